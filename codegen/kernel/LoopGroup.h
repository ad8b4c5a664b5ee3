//===- LoopGroup.h - The plan of a loop-group kernel ------------*- C++ -*-===//
//
// Decides, before code is written, how a kernel without contraction runs:
//
//  - which tensors are stored (outputs, and intermediates in scratch) and which
//    are computed where they are read;
//  - which dims are *shared*: output dims that every stored intermediate has
//    as well, so that the whole group can run for one index of them at a time,
//    with scratch for what remains;
//  - how shared dims become tasks, loops around the group, or (the last dim of
//    the first output) a tile.
//
// Softmax over [R, C]: maximum and sum are stored [R], the exponential [R, C];
// R is shared, so one task is one row and the exponential takes C elements of
// scratch.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_LOOPGROUP_H
#define MLC_CODEGEN_KERNEL_LOOPGROUP_H

#include "codegen/kernel/Kernel.h"
#include "codegen/target/Target.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

namespace mlc {

/// Maps each dim of a tensor (or loop of an op) to its shared dim, or -1.
using Binding = llvm::SmallVector<int, 6>;

/// When an intermediate counts as read more than once and is therefore stored:
/// if the read does not depend on some loop of its reader, or only if such a
/// loop has more than one step. With the latter, pieces put together are also
/// computed where they are read, unless that is more than once.
enum class Repeats { ByAnyLoop, BySteps };

struct LoopGroup {
  explicit LoopGroup(const Kernel &kernel,
                     Repeats repeats = Repeats::ByAnyLoop);

  const Kernel &kernel;
  /// All tensors are read and written in order, element by element: one flat
  /// loop.
  bool flat = false;
  /// Intermediates that are stored, in program order.
  llvm::SetVector<mlir::Value> stored;
  /// Sizes of the shared dims, in the order of the first output's dims.
  llvm::SmallVector<IntExpr> shared;
  /// The last of them is run as tiles, not index by index.
  bool tiled = false;
  /// Bindings of outputs and stored tensors.
  llvm::DenseMap<mlir::Value, Binding> bindings;

  /// The first `taskDims` shared dims make tasks; the other, not tiled ones
  /// are loops around the group.
  unsigned taskDims = 0;
  /// Elements of a tile of the tiled dim; 0: the whole dim.
  int64_t tile = 0;

  /// If a task's stored intermediates take more than `limit` bytes, or an
  /// unknown number, recomputes those that are element-wise and cheap instead
  /// of storing them.
  void recomputeBeyond(int64_t limit);
  /// Whether a task's stored intermediates are bounded like those of one row:
  /// they have at most one open dim, and none if the whole group is one task.
  bool isScratchBounded() const;

  bool isOutput(mlir::Value value) const {
    return llvm::is_contained(kernel.outputs, value);
  }
  /// Stored in memory: inputs, outputs, stored intermediates.
  bool isInMemory(mlir::Value value) const {
    return kernel.isInput(value) || isOutput(value) || stored.contains(value);
  }
  IntExpr tasks() const;
  /// The extents of a stored intermediate in scratch.
  Shape scratchExtents(mlir::Value value) const;
  /// Loops of `op` that are shared dims, from the binding of its result.
  Binding loopBinding(mlir::linalg::LinalgOp op) const;

private:
  void chooseStored();
  bool mustStore(mlir::Operation *op) const;

  Repeats repeats;
  bool isFlat() const;
  void chooseShared();
  bool bindAll(llvm::ArrayRef<bool> live, llvm::SmallVectorImpl<bool> &dead);
  void bindOutputs(llvm::ArrayRef<bool> live);
  void demand(mlir::Value value, const Binding &binding,
              llvm::SmallVectorImpl<bool> &dead);
  void demandOperands(mlir::Operation *op, const Binding &binding,
                      llvm::SmallVectorImpl<bool> &dead);
  void chooseTasks();
  int64_t workPerElement() const;
};

/// Loop sizes of a LinalgOp from the shapes of its operands.
llvm::SmallVector<IntExpr> loopSizes(const Kernel &kernel,
                                     mlir::linalg::LinalgOp op);

/// Whether a consumer can compute the reduction element by element, with its
/// innermost dim as lanes or neighbouring threads: all reads are contiguous
/// along a parallel loop.
bool reducesAcrossLanes(mlir::linalg::LinalgOp op);

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_LOOPGROUP_H
