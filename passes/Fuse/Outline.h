//===- Outline.h - Groups as kernel functions -------------------*- C++ -*-===//

#ifndef MLC_PASSES_FUSE_OUTLINE_H
#define MLC_PASSES_FUSE_OUTLINE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Fuse/Grouping.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// A kernel that computes a group.
struct OutlinedKernel {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  /// Values of the function's `mlc.symbols` at the launch.
  llvm::SmallVector<IntExpr> args;
};

/// Makes kernel functions at the end of a module; groups that compute the same
/// thing share one.
class Outliner {
public:
  /// The module's kernels by their text, which functions share.
  using Known = llvm::StringMap<mlir::func::FuncOp>;

  Outliner(mlir::ModuleOp module, const Grouping &grouping, Known &known)
      : module(module), grouping(grouping), known(known) {}

  OutlinedKernel outline(const Group &group);

private:
  mlir::func::FuncOp build(const Group &group, OutlinedKernel &kernel);
  mlir::func::FuncOp share(mlir::func::FuncOp function);

  mlir::ModuleOp module;
  const Grouping &grouping;
  Known &known;
};

} // namespace mlc

#endif // MLC_PASSES_FUSE_OUTLINE_H
