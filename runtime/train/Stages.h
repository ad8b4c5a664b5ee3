//===- Stages.h - Stages of training, and their ranks -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_STAGES_H
#define MLC_RUNTIME_TRAIN_STAGES_H

#include "runtime/Artifact.h"
#include "runtime/Ranks.h"
#include "runtime/schedule/StageEntry.h"

#include <optional>

namespace mlc::runtime::train {

/// The stages of an artifact's entries, and which ranks run them. An artifact
/// that trains in one stage has none.
class Stages {
public:
  using Entry = schedule::StageEntry;

  /// Reads the entries, and for several ranks the table of actions, to which it
  /// adds transfers. Fails if the table is not for so many ranks or these
  /// stages, or cannot run; `isBuffered` is that of schedule::CheckOptions.
  static Status of(const Artifact &artifact, int ranks, bool isBuffered,
                   Stages &stages);

  int64_t count() const { return static_cast<int64_t>(ranksOfStage.size()); }
  /// Nothing for an entry that no stage has.
  const std::optional<Entry> &entry(size_t index) const {
    return entries[index];
  }
  std::optional<size_t> find(int64_t stage, schedule::ActionKind kind) const;

  /// The ranks that have a stage, in order; each has all of its weights, and
  /// the first is the one that others have news of the stage from.
  const std::vector<int> &ranksOf(int64_t stage) const {
    return ranksOfStage[stage];
  }
  bool isOn(int64_t stage, int rank) const;
  /// Micro-batches that the same ranks run make a *replica* of the pipeline.
  size_t countReplicas() const { return replicas.size(); }
  size_t replicaOf(int64_t batch) const { return replicaOfBatch[batch]; }
  int rankOf(int64_t stage, size_t replica) const {
    return replicas[replica][stage];
  }

  bool hasTable() const { return !table.ranks.empty(); }
  /// The actions of a rank in the table.
  const std::vector<schedule::Action> &actions(int rank) const {
    return table.ranks[rank];
  }
  /// The entries that update, in the order in which all ranks see them: what an
  /// entry reads comes from an earlier one.
  std::vector<size_t> updates() const;
  /// One for each pair of ranks of which the first sends to the second.
  const std::vector<Ranks::Channel> &channels() const { return pairs; }
  size_t findChannel(int from, int to) const;

private:
  Status readTable(const Artifact &artifact, int ranks, bool isBuffered);
  Status place(int64_t batches);
  Status checkStatistics(const Artifact &artifact) const;
  void findChannels(const Artifact &artifact);
  std::vector<std::pair<size_t, size_t>>
  findReaders(const Artifact &artifact) const;

  std::vector<std::optional<Entry>> entries;
  std::vector<std::vector<int>> ranksOfStage;
  /// For each replica the rank of each stage.
  std::vector<std::vector<int>> replicas;
  std::vector<size_t> replicaOfBatch;
  schedule::Table table;
  std::vector<Ranks::Channel> pairs;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STAGES_H
