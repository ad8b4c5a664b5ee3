//===- GroupLimits.h - What may run as one loop group -----------*- C++ -*-===//

#ifndef MLC_CODEGEN_KERNEL_GROUPLIMITS_H
#define MLC_CODEGEN_KERNEL_GROUPLIMITS_H

#include "codegen/kernel/LoopGroup.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc {

/// What a back end allows a loop group.
struct GroupLimits {
  /// Structured operations, and bytes of stored intermediates for each task.
  int64_t operations = 24, scratchBytes = 0;
  /// Beyond so many bytes intermediates are computed again; 0: never.
  int64_t recomputeBeyond = 0;
  /// Whether tasks must not store whole tensors of open sizes; what they would
  /// is computed again.
  bool boundsScratch = false;
  /// A group that has grown has at least so many tasks, or as many as its parts
  /// had, unless all its tensors have few elements, or its operations few steps
  /// for each task; for each column, where all sums are of neighbours.
  int64_t tasks = 0, smallElements = 0, taskSteps = 0, columnSteps = 0;
  /// Whether tasks may share a sum, where there is nothing else to compute.
  bool sharesSums = false;
  /// As its emitters have it.
  Repeats repeats = Repeats::ByAnyLoop;
};

/// Whether `op` may join `group` (Backend::canJoinLoopGroup) within `limits`.
bool canJoinLoopGroup(llvm::ArrayRef<mlir::Operation *> group,
                      mlir::Operation *op, const GroupLimits &limits);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_GROUPLIMITS_H
