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

#include "codegen/cuda/KernelPrinter.h"
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

bool acceptsTiles(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTiles(KernelPrinter &to);

/// On tensor cores: factors of float32 (where TF32 will do), float16 or
/// bfloat16, sums of float32.
bool acceptsTensor(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTensor(KernelPrinter &to);

// What both make of a kernel.

/// The contraction that `kernel` is; nothing where it is none, or one that
/// wastes most of a tile (few rows, columns or steps): threads compute
/// elements, or blocks rows, without sharing factors.
mlir::FailureOr<Contraction> matchTiles(const Kernel &kernel);
/// How many places a list of loops has.
IntExpr product(const Contraction &c, llvm::ArrayRef<unsigned> dims);
/// How many places, one after another along `dims`, lie together in memory.
IntExpr runAlong(const Contraction &c, const Access &access,
                 llvm::ArrayRef<unsigned> dims);
/// Whether threads that are neighbours had better read a factor along the
/// depth, not along its `rows` (for B: columns): longer runs lie together
/// there.
bool readsAlongDepth(const Contraction &c, const Access &access,
                     const Roles &roles, llvm::ArrayRef<unsigned> rows);
/// How the work is shared out: blocks compute tiles of `m` x `n`, and `parts`
/// of them share one along the depth, in steps.
struct Cut {
  Cut(const Contraction &c, const Roles &roles, const Target &target, int64_t m,
      int64_t n, int64_t step);
  int64_t m, n;
  IntExpr tiles, parts;
};
/// The text of `struct Problem`.
std::string printProblem(KernelPrinter &to, const Contraction &c,
                         const Roles &roles, const Cut &cut);
/// Fills text and code with a call of `skeleton` for the problem.
void callSkeleton(KernelPrinter &to, KernelText &text, const Contraction &c,
                  llvm::StringRef skeleton, const Cut &cut);
/// Sizes, open ones taken to be large: rows, columns, batch, depth.
struct Extents {
  Extents(const Contraction &c, const Roles &roles);
  int64_t rows, columns, batch, depth;
  /// Tiles of this size.
  int64_t tiles(int64_t m, int64_t n) const;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_CONTRACTION_H
