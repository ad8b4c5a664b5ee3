//===- StageRanks.h - Which ranks have a stage ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_SCHEDULE_STAGERANKS_H
#define MLC_RUNTIME_SCHEDULE_STAGERANKS_H

#include "runtime/schedule/Table.h"

namespace mlc::runtime::schedule {

/// The ranks that run F, I, W or B of a stage, ascending, by stages.
std::vector<std::vector<int32_t>> findRanks(const Table &table);

/// Whether the kind uses a stage's weights: F, I, W, B.
inline bool isPass(ActionKind kind) {
  return isCompute(kind) && hasMicroBatch(kind);
}
/// Whether the kind completes a gradient of weights: W and B.
inline bool makesGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::WeightGradient;
}

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_STAGERANKS_H
