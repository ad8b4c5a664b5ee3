//===- DistinctKernels.h - Kernels without duplicates -----------*- C++ -*-===//

#ifndef MLC_CODEGEN_KERNEL_DISTINCTKERNELS_H
#define MLC_CODEGEN_KERNEL_DISTINCTKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlc {

/// The kernels (`mlc.kernel`) of a module; those that differ only in their
/// names are compiled once.
struct DistinctKernels {
  explicit DistinctKernels(mlir::ModuleOp module);

  struct Unit {
    mlir::func::FuncOp function;
    /// The symbol of its code, a hash of its contents: the same on every
    /// machine.
    std::string symbol;
  };
  /// In the order of their first kernels.
  std::vector<Unit> units;
  /// All kernels in the module's order, each with the place of its unit.
  std::vector<std::pair<mlir::func::FuncOp, size_t>> kernels;
};

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_DISTINCTKERNELS_H
