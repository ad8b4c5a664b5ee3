//===- Generate.cpp - The schedules of the literature ---------------------===//

#include "runtime/schedule/Generate.h"
#include "runtime/Text.h"
#include "runtime/schedule/Families.h"

#include <algorithm>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

namespace {

struct Entry {
  ScheduleRow row;
  Status (*make)(const Sizes &, Table &);
};

// Columns: name, summary, usual chunks, has chunks, slices, update-every,
// in-flight, replicas, is synchronous.
const Entry entries[] = {
    {{"data-parallel", "one stage on all ranks, which add their gradients", 1,
      false, false, false, false, false, true},
     makeDataParallel},
    {{"gpipe",
      "all forward passes, then all backward passes (Huang et al. 2019)", 1,
      false, false, false, false, true, true},
     makeGpipe},
    {{"1f1b",
      "one forward pass, one backward pass in turn (Narayanan et al. 2019)", 1,
      false, false, false, false, true, true},
     makeOneForwardOneBackward},
    {{"interleaved-1f1b",
      "1f1b with several stages a rank (Narayanan et al. 2021)", 2, true, false,
      false, false, false, true},
     makeInterleaved},
    {{"breadth-first", "gpipe with several stages a rank (Lamy-Poirier 2023)",
      2, true, false, false, false, false, true},
     makeBreadthFirst},
    {{"zero-bubble",
      "1f1b with gradients of weights in its gaps: ZB-H1; with several stages "
      "a rank, interleaved (Qi et al. 2023)",
      1, true, false, false, false, false, true},
     makeZeroBubble},
    {{"zbv", "two stages a rank, down and up again: ZB-V (Qi et al. 2023)", 2,
      false, false, false, false, false, true},
     makeZeroBubbleV},
    {{"chimera", "two pipelines in opposite directions (Li and Hoefler 2021)",
      1, false, false, false, false, false, true},
     makeChimera},
    {{"terapipe", "gpipe with slices of sequences (Li et al. 2021)", 1, false,
      true, false, false, false, true},
     makeTerapipe},
    {{"ampnet", "asynchronous: a stage takes what comes (Gaunt et al. 2017)", 1,
      false, false, true, true, false, false},
     makeAmpnet},
    {{"pipedream",
      "asynchronous: 1f1b that updates at once and keeps versions of weights "
      "(Narayanan et al. 2019)",
      1, false, false, false, false, true, false},
     makePipedream},
    {{"pipedream-2bw",
      "asynchronous: 1f1b with two versions of weights (Narayanan et al. "
      "2021)",
      1, false, false, true, false, true, false},
     makePipedream2bw},
};

const Entry *findEntry(std::string_view name) {
  for (const Entry &entry : entries)
    if (name == entry.row.name)
      return &entry;
  return nullptr;
}

Status wrong(const std::string &what) { return Status::error(MLC_USAGE, what); }

std::string count(int64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Completes options to sizes.
class Resolver {
public:
  Resolver(const ScheduleOptions &options, const Entry &entry)
      : options(options), row(entry.row), name(row.name),
        isOneStage(entry.make == makeDataParallel) {}

  Status resolve(Sizes &sizes) {
    for (Status (Resolver::*step)() :
         {&Resolver::checkRanges, &Resolver::checkKnobs, &Resolver::findStages})
      if (Status status = (this->*step)(); !status.ok())
        return status;
    const int64_t slices = std::max<int64_t>(options.slices, 1);
    // F, I, W and an update, at most; factors are below 2^24.
    if (stages * options.microBatches > kMaxActions / 4 ||
        stages * options.microBatches * slices > kMaxActions / 4)
      return wrong(name + ": " + std::to_string(options.microBatches) +
                   " micro-batches on " + count(stages, "stage") +
                   " are too many for a table, which has up to " +
                   std::to_string(kMaxActions) + " actions; give fewer");
    std::vector<int32_t> replicas(options.replicas.begin(),
                                  options.replicas.end());
    if (replicas.empty() && row.hasReplicas)
      replicas.assign(size_t(stages), 1);
    auto or_ = [](int64_t given, int64_t usual) {
      return int32_t(given ? given : usual);
    };
    sizes = {int32_t(stages),
             int32_t(ranks),
             int32_t(chunks),
             int32_t(options.microBatches),
             int32_t(slices),
             or_(options.updateEvery,
                 findEntry(name)->make == makeAmpnet ? 1 : ranks),
             or_(options.inFlight, stages),
             std::move(replicas)};
    return Status::success();
  }

private:
  Status checkRanges() {
    struct Range {
      const char *what;
      int64_t value, most;
    };
    for (const Range &range :
         {Range{"stages", options.stages, kMaxStages},
          {"ranks", options.ranks, kMaxRanks},
          {"stages a rank", options.chunks, kMaxStages},
          {"micro-batches", options.microBatches, kMaxNumbers},
          {"slices", options.slices, kMaxNumbers},
          {"gradients before an update", options.updateEvery, kMaxNumbers},
          {"micro-batches in flight", options.inFlight, kMaxNumbers}})
      if (range.value < 0 || range.value > range.most)
        return wrong(name + ": there are 1 to " + std::to_string(range.most) +
                     " " + range.what + ", not " + std::to_string(range.value));
    return options.microBatches ? Status::success()
                                : wrong(name + ": give a number of "
                                               "micro-batches");
  }

  Status checkKnobs() {
    struct Knob {
      const char *what;
      int64_t value;
      bool isTaken;
    };
    for (const Knob &knob : {Knob{"slices", options.slices, row.hasSlices},
                             {"gradients before an update", options.updateEvery,
                              row.hasUpdateEvery},
                             {"limit of micro-batches in flight",
                              options.inFlight, row.hasInFlight}})
      if (knob.value && !knob.isTaken)
        return wrong(name + " has no " + knob.what + "; leave them out");
    return Status::success();
  }

  Status findStages() {
    if (!options.replicas.empty())
      return findReplicas();
    if (isOneStage)
      return findRanks();
    chunks = options.chunks;
    if (chunks && !row.hasChunks && chunks != row.usualChunks)
      return wrong(name + " has " + count(row.usualChunks, "stage") +
                   " a rank, not " + std::to_string(chunks));
    if (!options.stages && !options.ranks)
      return wrong(name + ": give a number of stages, or of ranks");
    if (!chunks && options.stages && options.ranks && row.hasChunks)
      chunks = std::max<int64_t>(1, options.stages / options.ranks);
    if (!chunks)
      chunks = row.usualChunks;
    ranks = options.ranks ? options.ranks
                          : std::max<int64_t>(1, options.stages / chunks);
    stages = options.stages ? options.stages : ranks * chunks;
    if (stages != ranks * chunks)
      return wrong(name + ": " + count(stages, "stage") + " are not " +
                   std::to_string(chunks) + " on each of " +
                   count(ranks, "rank") +
                   (row.hasChunks ? "; give a multiple of the ranks"
                                  : "; give " + std::to_string(ranks * chunks) +
                                        " stages, or another number of ranks"));
    if (ranks > kMaxRanks || stages > kMaxStages)
      return wrong(name + ": there are up to " + std::to_string(kMaxRanks) +
                   " ranks and " + std::to_string(kMaxStages) +
                   " stages; give fewer");
    return Status::success();
  }

  /// The ranks of each stage are given; they share its micro-batches.
  Status findReplicas() {
    if (!row.hasReplicas)
      return wrong(name + " has no replicas of stages; give " +
                   listReplicated() + ", or leave them out");
    chunks = 1;
    if (options.chunks > 1)
      return wrong(name + " has 1 stage a rank, not " +
                   std::to_string(options.chunks));
    int64_t most = 0;
    for (int64_t one : options.replicas) {
      if (one < 1 || one > kMaxRanks)
        return wrong(name + ": a stage is on 1 to " +
                     std::to_string(kMaxRanks) + " ranks, not " +
                     std::to_string(one));
      ++stages;
      ranks += one;
      most = std::max(most, one);
      if (ranks > kMaxRanks)
        return wrong(name + ": replicas of stages are on more than " +
                     std::to_string(kMaxRanks) + " ranks; give fewer");
    }
    if (options.stages && options.stages != stages)
      return wrong(name + ": replicas are given of " + count(stages, "stage") +
                   ", and there are " + std::to_string(options.stages) +
                   "; give a number of ranks for each");
    if (options.ranks && options.ranks != ranks)
      return wrong(name + ": replicas of stages are on " +
                   count(ranks, "rank") + ", and there are " +
                   std::to_string(options.ranks) + "; give as many");
    if (options.microBatches < most)
      return wrong(name + ": " + std::to_string(most) +
                   " ranks share the micro-batches of a stage, and only " +
                   std::to_string(options.microBatches) +
                   " get one; give more micro-batches or fewer replicas");
    return Status::success();
  }

  /// "gpipe, 1f1b, ...": the schedules with replicas.
  static std::string listReplicated() {
    std::string names;
    for (const Entry &entry : entries)
      if (entry.row.hasReplicas)
        names.append(names.empty() ? "" : ", ").append(entry.row.name);
    return names;
  }

  Status findRanks() {
    if (options.stages > 1 || options.chunks > 1)
      return wrong(name + " has one stage; leave the stages out, and say how "
                          "many ranks there are");
    if (!options.ranks)
      return wrong(name + ": give a number of ranks");
    stages = chunks = 1;
    ranks = options.ranks;
    return Status::success();
  }

  const ScheduleOptions &options;
  const ScheduleRow &row;
  std::string name;
  bool isOneStage;
  int64_t stages = 0, ranks = 0, chunks = 0;
};

} // namespace

const std::vector<ScheduleRow> &schedule::allSchedules() {
  static const std::vector<ScheduleRow> rows = [] {
    std::vector<ScheduleRow> all;
    for (const Entry &entry : entries)
      all.push_back(entry.row);
    return all;
  }();
  return rows;
}

const ScheduleRow *schedule::findSchedule(std::string_view name) {
  const Entry *entry = findEntry(name);
  return entry ? &entry->row : nullptr;
}

std::string schedule::scheduleNames() {
  std::string names;
  for (const Entry &entry : entries)
    names.append(names.empty() ? "" : ", ").append(entry.row.name);
  return names;
}

Status schedule::generate(const ScheduleOptions &options, Table &table) {
  const Entry *entry = findEntry(options.name);
  if (!entry)
    return wrong("there is no schedule '" + printable(options.name) +
                 "'; there are " + scheduleNames());
  Sizes sizes{};
  if (Status status = Resolver(options, *entry).resolve(sizes); !status.ok())
    return status;
  table.ranks.clear();
  return entry->make(sizes, table);
}
