//===- Strategies.cpp - Ways to share a step that people wrote ------------===//

#include "planner/strategies/Strategies.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace mlc::planner {

static constexpr StrategyRow kRows[] = {
    {WrittenStrategy::DataParallel, "data-parallel",
     "ranks share the samples and add up their gradients by all-reduces",
     "Goyal et al. 2017"},
    {WrittenStrategy::ParameterServer, "parameter-server",
     "the same, and each rank is the server of a part of the weights, which "
     "adds up their gradients",
     "Li et al. 2014"},
    {WrittenStrategy::Zero1, "zero-1",
     "ranks split what the optimizer keeps, too", "Rajbhandari et al. 2020"},
    {WrittenStrategy::Zero2, "zero-2", "and the sums of gradients",
     "Rajbhandari et al. 2020"},
    {WrittenStrategy::Zero3, "zero-3", "and the weights",
     "Rajbhandari et al. 2020"},
    {WrittenStrategy::OneWeirdTrick, "one-weird-trick",
     "convolutions by samples, dense layers by columns of their weights",
     "Krizhevsky 2014"},
    {WrittenStrategy::Megatron, "megatron",
     "columns of a product's weights, then rows of the next one's; heads of "
     "attention; rows of tables; other axes share samples",
     "Shoeybi et al. 2019"},
    {WrittenStrategy::LayerPerDevice, "layer-per-device",
     "a layer on each rank, or equally many, one batch at a time",
     "Wu et al. 2016"},
    {WrittenStrategy::EqualStages, "equal-stages",
     "stages of equally many layers, with micro-batches", "Huang et al. 2019"},
    {WrittenStrategy::BlockPartition, "torchgpipe",
     "stages whose times differ by one layer's at most, with micro-batches",
     "Kim et al. 2020"},
    {WrittenStrategy::Gspmd, "gspmd",
     "the tensors of --shard over --mesh; the partitioner completes the rest",
     "Xu et al. 2021"},
    {WrittenStrategy::OptCnn, "optcnn",
     "each layer as is best for all, over one axis, by elimination, without "
     "overlap",
     "Jia et al. 2018"},
};

std::span<const StrategyRow> allStrategies() { return kRows; }

const StrategyRow *findStrategy(std::string_view name) {
  const auto *row = std::ranges::find_if(
      kRows, [&](const StrategyRow &one) { return name == one.name; });
  return row == std::end(kRows) ? nullptr : row;
}

std::string strategyNames() {
  std::string names;
  for (const StrategyRow &row : kRows)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

std::vector<size_t> divideEqually(size_t count, size_t parts) {
  assert(parts > 0 && parts <= count);
  std::vector<size_t> ends;
  for (size_t part = 1, end = 0; part <= parts; ++part)
    ends.push_back(end += count / parts + (part <= count % parts));
  return ends;
}

std::vector<size_t> partitionBlocks(const std::vector<double> &weights,
                                    size_t parts) {
  const size_t count = weights.size();
  assert(parts > 0 && parts <= count);
  const double largest = *std::ranges::max_element(weights);
  std::vector<double> before(count + 1, 0);
  std::partial_sum(weights.begin(), weights.end(), before.begin() + 1);
  std::vector<size_t> ends = divideEqually(count, parts);
  auto size = [&](size_t part) {
    return before[ends[part]] - (part ? before[ends[part - 1]] : 0);
  };
  std::vector<size_t> numbers(parts);
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  // Each move takes a weight to a lighter part, so the parts of any size are
  // fewer after some moves; roundings could make it a circle.
  for (size_t move = 0; move < count * count * parts + parts; ++move) {
    const size_t most = *std::ranges::max_element(
        numbers, {}, [&](size_t part) { return size(part); });
    const double least = size(*std::ranges::min_element(
        numbers, {}, [&](size_t part) { return size(part); }));
    if (size(most) <= least + largest)
      break;
    // The lightest part that is nearest, and its neighbour on this side.
    size_t near = parts;
    for (size_t part : numbers) {
      const size_t distance = part > most ? part - most : most - part;
      if (size(part) == least &&
          (near == parts ||
           distance < (near > most ? near - most : most - near)))
        near = part;
    }
    if (most < near)
      --ends[near - 1];
    else
      ++ends[near];
  }
  return ends;
}

std::vector<int64_t> listMicroBatches(int64_t samples, int64_t ranks) {
  const int64_t most =
      std::min<int64_t>(1024, std::max<int64_t>(256, 16 * ranks));
  std::vector<int64_t> counts;
  for (int64_t count = 1; count <= std::min(samples, most); ++count)
    if (samples % count == 0 &&
        (counts.empty() || 3 * count >= 4 * counts.back()))
      counts.push_back(count);
  return counts;
}

} // namespace mlc::planner
