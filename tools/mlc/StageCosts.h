//===- StageCosts.h - What the stages of a step take ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGECOSTS_H
#define MLC_TOOLS_MLC_STAGECOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/schedule/Moves.h"
#include "runtime/schedule/StageEntry.h"
#include "runtime/schedule/Transfers.h"
#include "simulator/timeline/Timeline.h"
#include "tools/mlc/EntryTimes.h"
#include <map>

namespace mlc::cli {

/// The entry of a function of a step: one of a stage, or of a step without
/// stages, whose gradients are B of stage 0 and whose update is its STEP.
/// Nothing for other functions.
std::optional<runtime::schedule::StageEntry> findEntry(llvm::StringRef name);

/// The entries of a step (docs/Pipelines.md), as numbers: their times, and what
/// stages carry to each other.
class StageCosts {
public:
  /// `module` has the entries of known dims; `table` says which of its ranks
  /// runs which stage, for each micro-batch. `worldRanks` are the cluster's
  /// ranks of the first copy of the pipeline. Fails as EntryTimes does.
  static llvm::Expected<StageCosts> read(mlir::ModuleOp module,
                                         const EntryTimes &entries,
                                         const runtime::schedule::Table &table,
                                         llvm::ArrayRef<int64_t> worldRanks);

  const std::vector<simulator::StageTimes> &times() const { return stageTimes; }
  /// Which stages read which.
  std::vector<runtime::schedule::Reading> reads() const;
  /// The bytes of a send.
  int64_t bytes(const runtime::schedule::Action &send) const;
  /// The bytes of the sums of a stage's gradients.
  int64_t sumBytes(int64_t stage) const { return sums[stage]; }
  /// The ranks that have a stage.
  const std::vector<int> &ranksOf(int64_t stage) const {
    return stageRanks[stage];
  }
  /// The bytes that each rank of the table sends in a step to others of it:
  /// messages of micro-batches, sums of gradients over the ranks of a stage,
  /// and what updates tell each other.
  std::vector<int64_t> sentBytes() const;

private:
  struct Value {
    int64_t stage, bytes;
    bool isOfUpdate;
    std::vector<int64_t> readers; ///< stages
  };
  explicit StageCosts(const runtime::schedule::Table &table);
  void readValues(mlir::ModuleOp module);
  llvm::Error readTimes(mlir::ModuleOp module, const EntryTimes &entries,
                        llvm::ArrayRef<int64_t> worldRanks);
  /// The messages that take a value to others; `ranks` are those of the stages
  /// for its micro-batch.
  std::vector<runtime::schedule::Move>
  movesOf(const Value &value, const std::vector<int> &ranks) const;

  std::vector<simulator::StageTimes> stageTimes;
  std::vector<Value> values;
  std::vector<int64_t> sums;
  std::vector<std::vector<int>> stageRanks;
  /// For each micro-batch the rank of each stage.
  std::vector<std::vector<int>> rankOf;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGECOSTS_H
