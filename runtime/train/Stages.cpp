//===- Stages.cpp - Stages of training, and their ranks -------------------===//

#include "runtime/train/Stages.h"
#include "runtime/schedule/Check.h"

#include <algorithm>
#include <map>
#include <set>

using namespace mlc::runtime;
using namespace mlc::runtime::train;
using schedule::ActionKind;

/// What an artifact says of its stages.
struct StagedArtifact {
  int64_t stages = 1, batches = 1;
  const std::string &schedule;
  bool trains = true;
};

static StagedArtifact stagesOf(const Artifact &artifact) {
  if (const std::optional<Training> &training = artifact.training())
    return {training->stages, training->accumulate, training->schedule, true};
  const Pipeline &pipeline = *artifact.pipeline();
  return {pipeline.stages, pipeline.microBatches, pipeline.schedule, false};
}

/// The ranks of a mesh in which all but the coordinate on kStageAxis may differ
/// are copies of the pipeline.
void Stages::findLine(const Artifact &artifact, int rank, int ranks) {
  const std::vector<MeshAxis> &mesh = artifact.mesh();
  lines = mesh.empty() ? ranks : 1;
  for (size_t a = 0; a < mesh.size(); ++a)
    if (mesh[a].name == kStageAxis) {
      lines = static_cast<int>(mesh[a].size);
      distance = static_cast<int>(countRanks(
          {mesh.begin() + static_cast<ptrdiff_t>(a) + 1, mesh.end()}));
    }
  ownLine = rank / distance % lines;
  copies.clear();
  for (int other = 0; other < ranks; ++other)
    if (other / distance % lines == 0) {
      if (other == rank - ownLine * distance)
        copy = copies.size();
      copies.push_back(other);
    }
}

/// On one rank the stages of a step run in turn, and its update follows.
static Status checkAlone(const std::string &schedule) {
  schedule::Table table;
  if (schedule.empty())
    return Status::success();
  Status status = schedule::Table::parse(schedule, table);
  if (status.ok() && schedule::isAsynchronous(table))
    return Status::error(MLC_USAGE,
                         "the schedule is asynchronous, of " +
                             std::to_string(table.ranks.size()) +
                             " ranks, and there is one; start as many");
  return status;
}

Status Stages::of(const Artifact &artifact, int rank, int ranks,
                  bool isBuffered, Stages &stages) {
  const StagedArtifact known = stagesOf(artifact);
  const int64_t count = known.stages;
  stages = {};
  stages.entries.resize(artifact.entryCount());
  if (count == 1)
    return Status::success();
  for (size_t i = 0; i < artifact.entryCount(); ++i)
    if (auto entry = Entry::parse(artifact.program(i).name);
        entry && entry->stage < count)
      stages.entries[i] = entry;
  const int64_t batches = known.batches;
  stages.ranksOfStage.assign(count, {0});
  stages.replicas = {std::vector<int>(count, 0)};
  stages.replicaOfBatch.assign(batches, 0);
  stages.findLine(artifact, rank, ranks);
  if (stages.lines == 1)
    return checkAlone(known.schedule);
  Status status = stages.readTable(artifact, isBuffered);
  if (status.ok())
    status = stages.place(batches);
  if (status.ok())
    status = stages.checkStatistics(artifact);
  if (status.ok())
    stages.findChannels(artifact);
  return status;
}

/// Running statistics move with every micro-batch, in order.
Status Stages::checkStatistics(const Artifact &artifact) const {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i] && entries[i]->kind == ActionKind::Forward &&
        artifact.stateUse(i).hasWrites && ranksOf(entries[i]->stage).size() > 1)
      return Status::error(MLC_UNSUPPORTED,
                           "stage " + std::to_string(entries[i]->stage) +
                               " moves running statistics, and several ranks "
                               "have it; take a schedule with each stage on "
                               "one rank");
  return Status::success();
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

Status Stages::readTable(const Artifact &artifact, bool isBuffered) {
  const StagedArtifact known = stagesOf(artifact);
  if (Status status = schedule::Table::parse(known.schedule, table);
      !status.ok())
    return status;
  if (table.ranks.size() != static_cast<size_t>(lines) ||
      table.countStages() != count() ||
      table.countMicroBatches() != known.batches)
    return Status::error(
        MLC_USAGE,
        "the schedule is of " + std::to_string(table.ranks.size()) +
            " ranks, " + std::to_string(table.countStages()) + " stages and " +
            std::to_string(table.countMicroBatches()) +
            " micro-batches, and there are " + std::to_string(lines) + ", " +
            std::to_string(count()) + " and " + std::to_string(known.batches) +
            "; compile the artifact for these");
  return checkTable(artifact, isBuffered);
}

/// Adds transfers, and finds versions of weights.
Status Stages::checkTable(const Artifact &artifact, bool isBuffered) {
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
  if (!table.hasTransfers())
    if (Status status = schedule::addTransfers(table, all); !status.ok())
      return status;
  schedule::CheckOptions options;
  options.reads = all;
  options.isTraining = stagesOf(artifact).trains;
  options.isBuffered = isBuffered;
  Status status = schedule::checkPromises(table, options);
  if (status.ok() && schedule::isAsynchronous(table))
    status = schedule::findVersions(table, stageVersions);
  if (!status.ok())
    status.message = "the table of the schedule: " + status.message;
  return status;
}

bool Stages::isOn(int64_t stage, int rank) const {
  const std::vector<int> &having = ranksOfStage[stage];
  return std::find(having.begin(), having.end(), rank) != having.end();
}

/// Finds the ranks of the stages, for each micro-batch.
Status Stages::place(int64_t batches) {
  std::vector<std::vector<int>> ofBatch(batches, std::vector<int>(count(), -1));
  for (std::vector<int> &ranks : ranksOfStage)
    ranks.clear();
  for (size_t r = 0; r < table.ranks.size(); ++r)
    for (const schedule::Action &action : table.ranks[r]) {
      if (action.slice != schedule::kNone)
        return Status::error(MLC_UNSUPPORTED, "the schedule has " +
                                                  toString(action) +
                                                  "; training has no slices");
      if (!schedule::isCompute(action.kind) ||
          !schedule::hasMicroBatch(action.kind))
        continue;
      const int rank = static_cast<int>(r);
      int &known = ofBatch[action.microBatch][action.stage];
      if (known >= 0 && known != rank)
        return Status::error(
            MLC_UNSUPPORTED,
            "stage " + std::to_string(action.stage) + " runs micro-batch " +
                std::to_string(action.microBatch) + " on ranks " +
                std::to_string(known) + " and " + std::to_string(rank) +
                "; training runs it on one");
      known = rank;
      if (!isOn(action.stage, rank))
        ranksOfStage[action.stage].push_back(rank);
    }
  replicas.clear();
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t stage = 0; stage < count(); ++stage)
      if (ofBatch[batch][stage] < 0)
        return Status::error(MLC_USAGE, "no rank of the schedule has stage " +
                                            std::to_string(stage) +
                                            " for micro-batch " +
                                            std::to_string(batch));
    auto known = std::find(replicas.begin(), replicas.end(), ofBatch[batch]);
    replicaOfBatch[batch] = known - replicas.begin();
    if (known == replicas.end())
      replicas.push_back(ofBatch[batch]);
  }
  return Status::success();
}

void Stages::findChannels(const Artifact &artifact) {
  std::set<std::pair<int, int>> found;
  auto add = [&](int from, int to) {
    if (from != to)
      found.insert({from, to});
  };
  for (auto [source, reader] : findReaders(artifact)) {
    const int64_t from = entries[source]->stage, to = entries[reader]->stage;
    if (entries[source]->isUpdate())
      for (int rank : ranksOf(to))
        add(ranksOf(from).front(), rank);
    else
      for (size_t replica = 0; replica < replicas.size(); ++replica)
        add(rankOf(from, replica), rankOf(to, replica));
  }
  // Sums of gradients go to the first rank of a stage and back.
  for (const std::vector<int> &ranks : ranksOfStage)
    for (int rank : ranks) {
      add(ranks.front(), rank);
      add(rank, ranks.front());
    }
  for (auto [from, to] : found)
    pairs.push_back({from, to});
}

std::vector<Ranks::Channel> Stages::channels() const {
  std::vector<Ranks::Channel> all;
  for (int first : copies)
    for (auto [from, to] : pairs)
      all.push_back({first + from * distance, first + to * distance});
  return all;
}

size_t Stages::findChannel(int from, int to) const {
  return copy * pairs.size() +
         (std::find(pairs.begin(), pairs.end(), Ranks::Channel{from, to}) -
          pairs.begin());
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
