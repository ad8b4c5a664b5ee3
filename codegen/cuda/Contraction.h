//===- Contraction.h - Contractions as CUDA C++ -----------------*- C++ -*-===//
//
// A contraction (codegen/kernel/Contraction.h) is a batch of matrix products
// whose rows, columns and K may each be several loops: a convolution's
// columns are its pixels, its K the channels and positions of its kernel.
// The skeletons in kernels/ read it through a struct `Problem` that is printed
// here: sizes, offsets and the epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_CONTRACTION_H
#define MLC_CODEGEN_CUDA_CONTRACTION_H

#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Tiles.h"
#include "codegen/kernel/Contraction.h"

namespace mlc::cuda {

struct FactorMap;

/// The role of each loop of a contraction. Lists hold indices into
/// Contraction::dims, the fastest last.
struct Roles {
  llvm::SmallVector<unsigned> batch, rows, columns, k;
  /// Factor A has the rows and K, B the columns; false: A is `x`.
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

/// Finds the roles such that neighbouring columns are neighbours in the first
/// output.
Roles findRoles(const Contraction &c);

bool acceptsTiles(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTiles(KernelPrinter &to);

/// On tensor cores: factors of float32 (where TF32 will do), float16 or
/// bfloat16, sums of float32.
bool acceptsTensor(const Kernel &kernel, const EmitOptions &options);
mlir::FailureOr<KernelText> emitTensor(KernelPrinter &to);

/// The same by warpgroups of sm_90a, where factors come by 16 bytes or by
/// tensor maps.
bool acceptsWarpgroups(const Kernel &kernel, const EmitOptions &options);
/// Whether warpgroups compute `c`, the contraction of `kernel`.
bool isByWarpgroups(const Kernel &kernel, const Contraction &c,
                    const EmitOptions &options);
mlir::FailureOr<KernelText> emitWarpgroups(KernelPrinter &to);

// Shared by both emitters.

/// The contraction of `kernel`. Fails if there is none, or if it would waste
/// most of a tile (few rows, columns or steps); threads then compute elements,
/// or blocks rows, without sharing factors.
mlir::FailureOr<Contraction> matchTiles(const Kernel &kernel);
/// The product of the extents of `dims`.
IntExpr product(const Contraction &c, llvm::ArrayRef<unsigned> dims);
/// How many consecutive elements along `dims` are contiguous in memory.
IntExpr runAlong(const Contraction &c, const Access &access,
                 llvm::ArrayRef<unsigned> dims);
/// Merges adjacent `dims` that step through `access` and its bounds like one
/// loop. Returns the innermost dim of each run, whose strides the run has, and
/// its length in `extents`.
llvm::SmallVector<unsigned> joinRuns(const Contraction &c, const Access &access,
                                     llvm::ArrayRef<unsigned> dims,
                                     llvm::SmallVectorImpl<IntExpr> &extents);
/// Whether neighbouring threads should read a factor along K instead of along
/// its `rows` (for B: columns), because contiguous runs are longer there.
bool readsAlongK(const Contraction &c, const Access &access, const Roles &roles,
                 llvm::ArrayRef<unsigned> rows);
/// How the work is split: blocks compute tiles of `m` x `n`, and `parts` blocks
/// share each tile along K (split-K), in whole steps. A multiprocessor gets
/// `resident` blocks.
struct SplitK {
  SplitK(const Contraction &c, const Roles &roles, const Target &target,
         int64_t m, int64_t n, int64_t step, int64_t most,
         int64_t resident = 2);
  int64_t m, n;
  IntExpr tiles, parts;
};
/// Whether `value` is a multiple of `count` for all values of its symbols.
bool isMultiple(IntExpr value, int64_t count);
/// Whether aligned runs of `count` elements along `dims` are contiguous and
/// aligned to `count` in memory, and none crosses the end of the dims.
bool hasRuns(const Contraction &c, const Access &access,
             llvm::ArrayRef<unsigned> dims, int64_t count);
/// The type of products on tensor cores: F16, BF16, TF32 or Bytes<signed A,
/// signed B>, to which skeletons put a word in front; empty if these cannot
/// compute them.
std::string productsOf(const Contraction &c, const Roles &roles,
                       const EmitOptions &options);
/// How a factor gets into shared memory (kernels/factors.cuh).
struct Reading {
  llvm::StringRef copyMode;
  bool alongK;

  bool isByVectors() const { return copyMode.contains("Vectors"); }
};
/// `rows`: the factor's rows (for B: columns).
Reading chooseReading(const Contraction &c, const Access &access,
                      const Roles &roles, llvm::ArrayRef<unsigned> rows);
/// The text of `struct Problem`. Its epilogue takes elements, or runs of
/// neighbouring columns (kernels/finish.cuh). It copies tiles of factors that
/// have maps.
std::string printProblem(KernelPrinter &to, const Contraction &c,
                         const Roles &roles, const SplitK &split,
                         bool finishesRuns, const FactorMap *mapA = nullptr,
                         const FactorMap *mapB = nullptr);
/// Prints the value of `struct Problem`, `problem`, and fills in how many tasks
/// there are and what memory they share.
void printProblemValue(KernelPrinter &to, KernelText &text,
                       const Contraction &c, const SplitK &split);
/// Fills text and code with a call of `skeleton` for the problem.
void callSkeleton(KernelPrinter &to, KernelText &text, const Contraction &c,
                  llvm::StringRef skeleton, const SplitK &split);
/// The shape of a contraction; open sizes count as large.
ProductShape shapeOf(const Contraction &c, const Roles &roles);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_CONTRACTION_H
