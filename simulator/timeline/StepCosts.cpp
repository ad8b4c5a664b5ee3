//===- StepCosts.cpp - What the stages of a step take ---------------------===//

#include "simulator/timeline/StepCosts.h"

#include <algorithm>
#include <map>
#include <set>

using namespace mlc::runtime::schedule;

namespace mlc::simulator {

Time StepCosts::computing() const {
  Time sum = 0;
  for (const StageTimes &stage : times)
    sum += stage.forward + stage.input + stage.weight;
  return sum;
}

StepCosts StepCosts::join(std::span<const size_t> ends) const {
  StepCosts joined;
  std::vector<int64_t> stageOf;
  for (size_t stage = 0; stage < ends.size(); ++stage) {
    StageTimes sum{0, 0, 0, 0};
    int64_t gradients = 0;
    for (size_t i = stageOf.size(); i < ends[stage]; ++i) {
      sum.forward += times[i].forward;
      sum.input += times[i].input;
      sum.weight += times[i].weight;
      sum.step += times[i].step;
      gradients += sums[i];
    }
    stageOf.resize(ends[stage], int64_t(stage));
    joined.times.push_back(sum);
    joined.sums.push_back(gradients);
  }
  // Values that the same stages read are taken together.
  std::map<std::tuple<int64_t, bool, std::vector<int64_t>>, size_t> known;
  for (const Value &value : values) {
    Value own = value;
    own.stage = stageOf[size_t(value.stage)];
    own.readers.clear();
    for (int64_t reader : value.readers)
      if (const int64_t to = stageOf[size_t(reader)];
          std::find(own.readers.begin(), own.readers.end(), to) ==
          own.readers.end())
        own.readers.push_back(to);
    std::sort(own.readers.begin(), own.readers.end());
    auto [it, isNew] = known.try_emplace(
        {own.stage, own.isOfUpdate, own.readers}, joined.values.size());
    if (isNew)
      joined.values.push_back(std::move(own));
    else
      joined.values[it->second].bytes += own.bytes;
  }
  return joined;
}

StepOnRanks::StepOnRanks(const StepCosts &costs, const Table &table)
    : costs(costs), stageRanks(size_t(table.countStages())),
      sumCounts(size_t(table.countStages())) {
  rankOf.assign(size_t(table.countMicroBatches()),
                std::vector<int>(size_t(table.countStages())));
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      std::vector<int> &having = stageRanks[size_t(action.stage)];
      // All ranks of a stage have as many.
      if (action.kind == ActionKind::ReduceGradients && !having.empty() &&
          having.front() == int(rank))
        ++sumCounts[size_t(action.stage)];
      if (!isCompute(action.kind) || !hasMicroBatch(action.kind))
        continue;
      rankOf[size_t(action.microBatch)][size_t(action.stage)] = int(rank);
      if (std::find(having.begin(), having.end(), int(rank)) == having.end())
        having.push_back(int(rank));
    }
}

std::vector<Reading> StepOnRanks::reads() const {
  std::map<std::pair<int32_t, int32_t>, bool> found;
  for (const StepCosts::Value &value : costs.values)
    for (int64_t reader : value.readers) {
      if (value.isOfUpdate || reader == value.stage)
        continue;
      if (reader > value.stage)
        found[{int32_t(value.stage), int32_t(reader)}];
      else
        found[{int32_t(reader), int32_t(value.stage)}] = true;
    }
  std::vector<Reading> all;
  for (const auto &[stages, hasGradient] : found)
    all.push_back({stages.first, stages.second, hasGradient});
  return all;
}

/// The messages that take a value to others; `ranks` are those of the stages
/// for its micro-batch.
std::vector<Move> StepOnRanks::movesOf(const StepCosts::Value &value,
                                       const std::vector<int> &ranks) const {
  // All ranks of a stage update it.
  auto ranksOf = [&](int64_t stage) {
    return value.isOfUpdate ? stageRanks[size_t(stage)]
                            : std::vector<int>{ranks[size_t(stage)]};
  };
  std::vector<ValueReader> readers;
  for (int64_t reader : value.readers)
    readers.push_back({reader, ranksOf(reader)});
  return findMoves(value.stage, ranksOf(value.stage), readers);
}

int64_t StepOnRanks::bytes(const Action &send) const {
  int64_t sum = 0;
  for (const StepCosts::Value &value : costs.values)
    if (!value.isOfUpdate && value.stage == send.stage)
      for (const Move &move : movesOf(value, rankOf[size_t(send.microBatch)]))
        sum += move.stage == peerOf(send) ? value.bytes : 0;
  return sum;
}

std::vector<int64_t> StepOnRanks::sentBytes() const {
  std::set<int> ranks;
  for (const std::vector<int> &having : stageRanks)
    ranks.insert(having.begin(), having.end());
  std::vector<int64_t> sent(ranks.empty() ? 0 : size_t(*ranks.rbegin()) + 1);
  for (const StepCosts::Value &value : costs.values) {
    if (value.isOfUpdate) {
      for (const Move &move : movesOf(value, {}))
        sent[size_t(move.from)] += value.bytes;
      continue;
    }
    for (const std::vector<int> &places : rankOf)
      for (const Move &move : movesOf(value, places))
        sent[size_t(move.from)] += value.bytes;
  }
  for (size_t stage = 0; stage < stageRanks.size(); ++stage)
    for (size_t i = 1; i < stageRanks[stage].size(); ++i) {
      // Once in a step, unless the table says how often.
      const int64_t bytes =
          costs.sums[stage] * std::max<int64_t>(1, sumCounts[stage]);
      sent[size_t(stageRanks[stage][i])] += bytes;
      sent[size_t(stageRanks[stage].front())] += bytes;
    }
  return sent;
}

runtime::Status makeStepTimeline(const StepCosts &costs, const Network &network,
                                 const StepPlaces &places, Table &table,
                                 Timeline &timeline) {
  const StepOnRanks step(costs, table);
  std::map<std::tuple<int, int, int64_t>, Time> known;
  const auto take = [&](int64_t bytes, int from, int to) {
    auto [it, isNew] = known.try_emplace({from, to, bytes}, 0);
    std::vector<std::pair<int, int>> pairs;
    for (int64_t offset : places.offsets)
      if (isNew)
        pairs.push_back({int(places.ranks[size_t(from)] + offset),
                         int(places.ranks[size_t(to)] + offset)});
    if (isNew)
      it->second = network.transfers(pairs, bytes);
    return it->second;
  };
  const std::vector<Level> &levels = network.getCluster().levels;
  TimelineOptions options;
  options.stages = costs.times;
  options.reads = step.reads();
  options.isEager =
      std::all_of(levels.begin(), levels.end(),
                  [](const Level &level) { return level.throttled; });
  options.bytes = [&](const Action &send) { return step.bytes(send); };
  options.transfer = [&](int32_t, int64_t bytes, int32_t from, int32_t to) {
    return take(bytes, from, to);
  };
  // The first rank takes the sums of the others, and sends the total back.
  options.collective = [&](const Action &action) {
    Time sum = 0;
    const std::vector<int> &having = step.ranksOf(action.stage);
    if (action.kind == ActionKind::ReduceGradients)
      for (size_t i = 1; i < having.size(); ++i)
        sum += 2 * take(costs.sums[size_t(action.stage)], having[i],
                        having.front());
    return sum;
  };
  runtime::Status status = addTransfers(table, options.reads);
  if (!status.ok())
    return status;
  addUpdates(table);
  return makeTimeline(table, options, timeline);
}

} // namespace mlc::simulator
