//===- StageCosts.h - What the stages of a step take ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGECOSTS_H
#define MLC_TOOLS_MLC_STAGECOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "rewrites/Cost/Cost.h"
#include "runtime/schedule/Moves.h"
#include "runtime/schedule/Transfers.h"
#include "simulator/timeline/Timeline.h"
#include <map>

namespace mlc::cli {

/// The entries of a step in stages (docs/Pipelines.md), as numbers: their times
/// by the cost model, and what stages carry to each other.
class StageCosts {
public:
  /// `module` has the entries that mlc-cut-stages makes, of known dims; `table`
  /// says which rank runs which stage, for each micro-batch.
  StageCosts(mlir::ModuleOp module, const CostModel &cost,
             const runtime::schedule::Table &table);

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
  /// The bytes that each rank sends in a step: messages of micro-batches, sums
  /// of gradients over the ranks of a stage, and what updates tell each other.
  std::vector<int64_t> sentBytes() const;

private:
  struct Value {
    int64_t stage, bytes;
    bool isOfUpdate;
    std::vector<int64_t> readers; ///< stages
  };
  void place(const runtime::schedule::Table &table);
  void read(mlir::ModuleOp module, const CostModel &cost);
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
