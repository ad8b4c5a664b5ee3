//===- Contraction.h - Contractions as CUDA C++ -----------------*- C++ -*-===//
//
// A contraction (codegen/kernel/Contraction.h) is a batch of matrix products
// whose rows, columns and depth may each be several loops: a convolution's
// columns are its pixels, its depth channels and the kernel's places. What the
// skeletons in kernels/ must know of one is a struct `Problem` that is printed
// here: sizes, offsets, and what becomes of a sum.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_CONTRACTION_H
#define MLC_CODEGEN_CUDA_CONTRACTION_H

#include "codegen/cuda/Emit.h"
#include "codegen/kernel/Contraction.h"

namespace mlc::cuda {

/// What each loop of a contraction is for; indices of Contraction::dims, the
/// last of a list the fastest.
struct Roles {
  llvm::SmallVector<unsigned> batch, rows, columns, depth;
  /// Factor A has the rows and depth, B the columns; false: A is `x`.
  bool isSwapped = false;
  const Access &a(const Contraction &c) const { return isSwapped ? c.w : c.x; }
  const Access &b(const Contraction &c) const { return isSwapped ? c.x : c.w; }
  llvm::ArrayRef<mlir::Operation *> aCasts(const Contraction &c) const {
    return isSwapped ? c.wCasts : c.xCasts;
  }
  llvm::ArrayRef<mlir::Operation *> bCasts(const Contraction &c) const {
    return isSwapped ? c.xCasts : c.wCasts;
  }
};

/// Neighbours along columns are neighbours in the first output.
Roles findRoles(const Contraction &c);

bool acceptsTiles(const Kernel &kernel, const Target &target);
mlir::FailureOr<KernelText> emitTiles(KernelPrinter &to);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_CONTRACTION_H
