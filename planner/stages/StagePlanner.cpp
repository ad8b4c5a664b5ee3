//===- StagePlanner.cpp - Stages and replicas of a chain of layers --------===//

#include "planner/stages/StagePlanner.h"

#include <algorithm>
#include <limits>

using namespace mlc::planner;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The best divisions of all parts of the chain among 1 to `count` machines of
/// a level.
class Level {
public:
  /// The outermost level divides the whole chain only, others any part of it.
  Level(const std::vector<Layer> &layers, const MachineLevel &machines,
        const Level *below, bool isOutermost)
      : layers(layers), machines(machines), below(below), n(layers.size()),
        begins(isOutermost ? 1 : n),
        best(begins * (n + 1) * (machines.count + 1)) {
    sumUp();
    for (size_t begin = 0; begin < begins; ++begin)
      for (size_t end = begin + 1; end <= n; ++end)
        for (int count = 1; count <= machines.count; ++count)
          find(begin, end, count);
  }

  double seconds(size_t begin, size_t end) const {
    return at(begin, end, machines.count).seconds;
  }
  std::vector<PlannedStage> stages(size_t begin, size_t end, int count) const {
    const Entry &entry = at(begin, end, count);
    std::vector<PlannedStage> found;
    if (entry.split > begin)
      found = stages(begin, entry.split, count - entry.replicas);
    found.push_back({entry.split, end, entry.replicas});
    if (below)
      found.back().inner =
          below->stages(entry.split, end, below->machines.count);
    return found;
  }

private:
  struct Entry {
    double seconds = kNever;
    /// The last stage begins there, and has so many machines.
    size_t split = 0;
    int replicas = 0;
  };

  Entry &at(size_t begin, size_t end, int count) {
    return best[(begin * (n + 1) + end) * (machines.count + 1) + count];
  }
  const Entry &at(size_t begin, size_t end, int count) const {
    return best[(begin * (n + 1) + end) * (machines.count + 1) + count];
  }

  /// Sums of the first layers.
  void sumUp() {
    times.assign(n + 1, 0);
    weights.assign(n + 1, 0);
    for (size_t i = 0; i < n; ++i) {
      times[i + 1] = times[i] + layers[i].seconds();
      weights[i + 1] = weights[i] + layers[i].weightBytes;
    }
  }

  double stage(size_t begin, size_t end, int replicas) const {
    return secondsOfStage(below ? below->seconds(begin, end)
                                : times[end] - times[begin],
                          weights[end] - weights[begin],
                          begin ? layers[begin - 1].outputBytes : 0,
                          end < n ? layers[end - 1].outputBytes : 0, replicas,
                          machines.bytesPerSecond);
  }

  void find(size_t begin, size_t end, int count) {
    Entry &entry = at(begin, end, count);
    for (size_t split = begin; split < end; ++split)
      for (int replicas = 1; replicas <= count; ++replicas) {
        // The part before has all other machines.
        const bool isWhole = split == begin;
        if (isWhole != (replicas == count))
          continue;
        const double before =
            isWhole ? 0 : at(begin, split, count - replicas).seconds;
        const double seconds = std::max(before, stage(split, end, replicas));
        if (seconds < entry.seconds)
          entry = {seconds, split, replicas};
      }
  }

  const std::vector<Layer> &layers;
  const MachineLevel machines;
  const Level *below;
  const size_t n, begins;
  std::vector<Entry> best;
  std::vector<double> times, weights;
};

} // namespace

double mlc::planner::secondsOfStage(double seconds, double weightBytes,
                                    double inputBytes, double outputBytes,
                                    int replicas, double bytesPerSecond) {
  const double r = replicas;
  const double computes =
      (seconds + 4 * (r - 1) / r * weightBytes / bytesPerSecond) / r;
  const double carries =
      2 * std::max(inputBytes, outputBytes) / bytesPerSecond / r;
  return std::max(computes, carries);
}

double mlc::planner::stepsToDivide(size_t layers,
                                   const std::vector<MachineLevel> &levels) {
  const auto n = static_cast<double>(layers);
  double steps = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const double m = levels[i].count;
    steps += n * n * (i + 1 < levels.size() ? n : 1) * m * m;
  }
  return steps;
}

StageDivision
mlc::planner::divideStages(const std::vector<Layer> &layers,
                           const std::vector<MachineLevel> &levels) {
  std::vector<Level> found;
  found.reserve(levels.size());
  for (const MachineLevel &machines : levels)
    found.emplace_back(layers, machines,
                       found.empty() ? nullptr : &found.back(),
                       found.size() + 1 == levels.size());
  const Level &outer = found.back();
  return {outer.stages(0, layers.size(), levels.back().count),
          outer.seconds(0, layers.size())};
}
