//===- Stages.cpp - Stages of training, and their ranks -------------------===//

#include "runtime/train/Stages.h"
#include "runtime/schedule/Transfers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

using namespace mlc::runtime;
using namespace mlc::runtime::train;
using schedule::ActionKind;

/// The stage and the kind in an entry's name, "2F".
static std::optional<Stages::Entry> parseEntry(const std::string &name) {
  int64_t stage = 0;
  const char *end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data(), end, stage);
  if (error != std::errc() || stage < 0 || stage >= mostStagesOfAStep)
    return std::nullopt;
  for (ActionKind kind :
       {ActionKind::Forward, ActionKind::Backward, ActionKind::InputGradient,
        ActionKind::WeightGradient, ActionKind::Norm, ActionKind::Step})
    if (std::string(rest, end) == schedule::toText(kind))
      return Stages::Entry{stage, kind};
  return std::nullopt;
}

Status Stages::of(const Artifact &artifact, int ranks, Stages &stages) {
  const int64_t count = artifact.training()->stages;
  stages = {};
  stages.entries.resize(artifact.entryCount());
  if (count == 1)
    return Status::success();
  for (size_t i = 0; i < artifact.entryCount(); ++i)
    if (auto entry = parseEntry(artifact.program(i).name);
        entry && entry->stage < count)
      stages.entries[i] = entry;
  stages.rankOfStage.assign(count, 0);
  if (ranks == 1)
    return Status::success();
  Status status = stages.readTable(artifact, ranks);
  if (status.ok())
    status = stages.place(ranks);
  if (status.ok())
    stages.findChannels(artifact);
  return status;
}

std::optional<size_t> Stages::find(int64_t stage, ActionKind kind) const {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i] && entries[i]->stage == stage && entries[i]->kind == kind)
      return i;
  return std::nullopt;
}

/// Pairs of entries of different stages, of which the second reads the first.
std::vector<std::pair<size_t, size_t>>
Stages::findReaders(const Artifact &artifact) const {
  std::map<std::string, size_t> sources;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i])
      for (const Port &output : artifact.program(i).outputs)
        sources[output.name] = i;
  std::vector<std::pair<size_t, size_t>> found;
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i])
      for (const Port &input : artifact.program(i).inputs)
        if (auto it = sources.find(input.name);
            input.role == InputRole::Carried && it != sources.end() &&
            entries[it->second]->stage != entries[i]->stage)
          found.emplace_back(it->second, i);
  return found;
}

Status Stages::readTable(const Artifact &artifact, int ranks) {
  if (Status status =
          schedule::Table::parse(artifact.training()->schedule, table);
      !status.ok())
    return status;
  if (table.ranks.size() != static_cast<size_t>(ranks) ||
      table.countStages() != count() ||
      table.countMicroBatches() != artifact.training()->accumulate)
    return Status::error(
        MLC_USAGE,
        "the schedule is of " + std::to_string(table.ranks.size()) +
            " ranks, " + std::to_string(table.countStages()) + " stages and " +
            std::to_string(table.countMicroBatches()) +
            " micro-batches, and there are " + std::to_string(ranks) + ", " +
            std::to_string(count()) + " and " +
            std::to_string(artifact.training()->accumulate) +
            "; compile the artifact for these");
  if (table.hasTransfers())
    return Status::success();
  // By the stages of what is read and of the reader.
  std::map<std::pair<int32_t, int32_t>, bool> reads;
  for (auto [source, reader] : findReaders(artifact)) {
    if (entries[source]->isUpdate() || entries[reader]->isUpdate())
      continue;
    const auto from = static_cast<int32_t>(entries[source]->stage),
               to = static_cast<int32_t>(entries[reader]->stage);
    if (from < to)
      reads[{from, to}];
    else
      reads[{to, from}] = true;
  }
  std::vector<schedule::Reading> all;
  for (const auto &[stages, hasGradient] : reads)
    all.push_back({stages.first, stages.second, hasGradient});
  return schedule::addTransfers(table, all);
}

/// Finds the rank of each stage.
Status Stages::place(int ranks) {
  std::fill(rankOfStage.begin(), rankOfStage.end(), -1);
  for (int rank = 0; rank < ranks; ++rank)
    for (const schedule::Action &action : table.ranks[rank]) {
      int &known = rankOfStage[action.stage];
      if (known >= 0 && known != rank)
        return Status::error(MLC_UNSUPPORTED,
                             "stage " + std::to_string(action.stage) +
                                 " is on ranks " + std::to_string(known) +
                                 " and " + std::to_string(rank) +
                                 "; training has each stage on one rank");
      if (action.slice != schedule::kNone || action.version != schedule::kNone)
        return Status::error(MLC_UNSUPPORTED,
                             "the schedule has " + toString(action) +
                                 "; training knows neither slices nor weight "
                                 "versions");
      known = rank;
    }
  for (size_t stage = 0; stage < rankOfStage.size(); ++stage)
    if (rankOfStage[stage] < 0)
      return Status::error(MLC_USAGE, "no rank of the schedule has stage " +
                                          std::to_string(stage));
  return Status::success();
}

void Stages::findChannels(const Artifact &artifact) {
  std::set<std::pair<int, int>> found;
  for (auto [source, reader] : findReaders(artifact)) {
    const int from = rankOf(entries[source]->stage),
              to = rankOf(entries[reader]->stage);
    if (from != to)
      found.insert({from, to});
  }
  for (auto [from, to] : found)
    pairs.push_back({from, to});
}

size_t Stages::findChannel(int from, int to) const {
  return std::find(pairs.begin(), pairs.end(), Ranks::Channel{from, to}) -
         pairs.begin();
}

std::vector<size_t> Stages::updates() const {
  std::vector<size_t> all;
  for (int64_t stage = count(); stage-- > 0;)
    if (auto norm = find(stage, ActionKind::Norm))
      all.push_back(*norm);
  for (int64_t stage = 0; stage < count(); ++stage)
    if (auto step = find(stage, ActionKind::Step))
      all.push_back(*step);
  return all;
}
