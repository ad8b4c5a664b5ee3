//===- Siblings.h - Kernels that compute several things ---------*- C++ -*-===//
//
// A kernel with `mlc.siblings` was made of kernels that do not depend on each
// other (passes/Fuse/Siblings.h). The attribute has the number of results of
// each. The body means what it says without it; a back end that joins kernels
// (Backend::canJoin) makes code of each sibling by itself.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_KERNEL_SIBLINGS_H
#define MLC_CODEGEN_KERNEL_SIBLINGS_H

#include "codegen/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlc {

/// The siblings of a kernel, each a kernel function of its own.
class Siblings {
public:
  struct Sibling {
    mlir::func::FuncOp function;
    /// The inputs and outputs of the whole that are its own, in order.
    llvm::SmallVector<unsigned> inputs, outputs;
  };

  /// Of a kernel that has siblings.
  explicit Siblings(const Kernel &kernel);

  llvm::SmallVector<Sibling> all;

private:
  Sibling cut(const Kernel &kernel, unsigned firstOutput, unsigned numOutputs);

  /// Holds the functions.
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace mlc

#endif // MLC_CODEGEN_KERNEL_SIBLINGS_H
