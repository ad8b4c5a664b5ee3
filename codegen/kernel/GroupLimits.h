//===- GroupLimits.h - Limits of loop groups --------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_KERNEL_GROUPLIMITS_H
#define MLC_CODEGEN_KERNEL_GROUPLIMITS_H

#include "codegen/kernel/LoopGroup.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlc {

/// A back end's limits on a loop group.
struct GroupLimits {
  /// Structured operations, and bytes of stored intermediates for each task.
  int64_t operations = 24, scratchBytes = 0;
  /// Above this many bytes, intermediates are recomputed; 0: never.
  int64_t recomputeBeyond = 0;
  /// Whether tasks must recompute whole tensors of open sizes instead of
  /// storing them.
  bool boundsScratch = false;
  /// A joined group needs at least `tasks` tasks, or as many as each of its
  /// parts. Exempt are groups whose tensors have at most `smallElements`
  /// elements.
  int64_t tasks = 0, smallElements = 0;
  /// Threads of a task, where tasks are blocks of a GPU; 0: the rule above is
  /// the whole one. Else a joined group may take as many steps of a thread as
  /// its parts together, and as a launch takes: `rowSteps` if the threads of
  /// blocks share rows, `columnSteps` if each thread has a column. From
  /// `fullThreads` on, more threads do not make a kernel faster.
  int64_t taskThreads = 0, fullThreads = 0, rowSteps = 0, columnSteps = 0;
  /// Reductions of at most so many steps are computed by one thread; tasks may
  /// share others, if there is nothing else to compute.
  int64_t shortReduction = 0;
  /// The policy of the back end's emitters.
  Repeats repeats = Repeats::ByAnyLoop;
};

/// Whether `op` may join `group` (Backend::canJoinLoopGroup) within `limits`.
bool canJoinLoopGroup(llvm::ArrayRef<mlir::Operation *> group,
                      mlir::Operation *op, const GroupLimits &limits);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_GROUPLIMITS_H
