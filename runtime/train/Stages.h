//===- Stages.h - Stages of training, and their ranks -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_STAGES_H
#define MLC_RUNTIME_TRAIN_STAGES_H

#include "runtime/Artifact.h"
#include "runtime/Ranks.h"
#include "runtime/schedule/StageEntry.h"
#include "runtime/schedule/Versions.h"

#include <optional>

namespace mlc::runtime::train {

/// The stages of an artifact's entries, and which ranks run them: of a step of
/// training, or of a model (runtime/Pipeline.h). An artifact that trains in one
/// stage has none.
///
/// A rank runs a line of the table: its coordinate on kStageAxis of the
/// artifact's mesh, or without a mesh its number. Ranks with the same other
/// coordinates are a copy of the pipeline; here "rank" means a line, in this
/// rank's copy, and so it does for all who ask.
class Stages {
public:
  using Entry = schedule::StageEntry;

  /// Reads the entries, and for several lines the table of actions, to which it
  /// adds transfers, for rank `rank` of `ranks`. Fails if the table is not for
  /// so many lines or these stages, or cannot run; `isBuffered` is that of
  /// schedule::CheckOptions.
  static Status of(const Artifact &artifact, int rank, int ranks,
                   bool isBuffered, Stages &stages);

  /// This rank among all, and its line.
  int rank() const { return copies[copy] + ownLine * distance; }
  int line() const { return ownLine; }
  /// Whether no other rank with this line has smaller coordinates.
  bool isFirstCopy() const { return copy == 0; }

  int64_t count() const { return static_cast<int64_t>(ranksOfStage.size()); }
  /// Micro-batches of a step, or of a batch.
  int64_t countBatches() const {
    return static_cast<int64_t>(replicaOfBatch.size());
  }
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
  /// Whether the table updates weights while micro-batches are under way.
  bool isAsynchronous() const { return !stageVersions.empty(); }
  /// Of an asynchronous table.
  const schedule::StageVersions &versions(int64_t stage) const {
    return stageVersions[stage];
  }
  /// The updates of a stage in a step.
  int64_t countUpdates(int64_t stage) const {
    return isAsynchronous()
               ? static_cast<int64_t>(stageVersions[stage].gradients.size())
               : 1;
  }
  /// The actions of a rank in the table.
  const std::vector<schedule::Action> &actions(int rank) const {
    return table.ranks[rank];
  }
  /// The entries that update, of a table that is not asynchronous, in the order
  /// in which all ranks see them: what an entry reads comes from an earlier
  /// one.
  std::vector<size_t> updates() const;
  /// One for each pair of ranks of which the first sends to the second, of all
  /// copies, by their numbers among all ranks.
  std::vector<Ranks::Channel> channels() const;
  /// The channel between two lines of this rank's copy.
  size_t findChannel(int from, int to) const;

private:
  void findLine(const Artifact &artifact, int rank, int ranks);
  Status readTable(const Artifact &artifact, bool isBuffered);
  Status checkTable(const Artifact &artifact, bool isBuffered);
  Status place(int64_t batches);
  Status checkStatistics(const Artifact &artifact) const;
  void findChannels(const Artifact &artifact);
  std::vector<std::pair<size_t, size_t>>
  findReaders(const Artifact &artifact) const;

  /// The number of lines, how far the ranks of neighbours are apart, this
  /// rank's place, and the first ranks of all copies.
  int lines = 1, distance = 1, ownLine = 0;
  size_t copy = 0;
  std::vector<int> copies{0};
  std::vector<std::optional<Entry>> entries;
  std::vector<std::vector<int>> ranksOfStage;
  /// For each replica the rank of each stage.
  std::vector<std::vector<int>> replicas;
  std::vector<size_t> replicaOfBatch;
  schedule::Table table;
  std::vector<schedule::StageVersions> stageVersions;
  std::vector<Ranks::Channel> pairs;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STAGES_H
