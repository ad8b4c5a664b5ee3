//===- MicroKernel.h - A register tile of a contraction ---------*- C++ -*-===//
//
// The innermost part of every contraction: rows × vectors accumulators held as
// SSA values of native width through the loops over the reduction. A step
// loads `vectors` vectors of W and, row by row, one scalar of X that is
// broadcast (or a vector of X where the vector dim is in both factors), and
// multiplies and adds. Everything is unrolled before LLVM sees it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_MICROKERNEL_H
#define MLC_CODEGEN_CPU_MICROKERNEL_H

#include "codegen/cpu/IndexMath.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace mlc::cpu {

/// One loop over the reduction, with the steps of both factors.
struct ReductionLoop {
  Index count;
  Index xStride, wStride;
};

/// One factor as the tile reads it: scalar or vector `(r, v)` is at
/// `base + rowOffset[r] + vectorOffset[v] + Σ k·stride`.
struct TileOperand {
  mlir::Value memref;
  mlir::Type element;
  Index base;
  llvm::SmallVector<Index> rowOffset, vectorOffset;
  /// Casts from `element` to the accumulator's type.
  llvm::ArrayRef<mlir::Operation *> casts;
};

struct MicroKernel {
  mlir::VectorType accumulator;
  int64_t rows = 1, vectors = 1;
  TileOperand x, w;
  bool xVector = false;
  /// Vectors run along the innermost loop, in which both factors have unit
  /// stride; the lanes of each accumulator are summed at the end.
  bool dot = false;
  /// Mask of the last vector, null if all lanes exist.
  mlir::Value mask;
  llvm::SmallVector<ReductionLoop> loops; ///< outermost first
  int64_t unroll = 1;
  /// Unrolled steps read the same elements of X: keep LLVM from sharing the
  /// broadcasts, for which there are no registers.
  bool opaqueSteps = false;
  /// Elements of W to prefetch ahead of its loads, 0 for none.
  int64_t prefetch = 0;
};

/// Adds the tile's products to `accumulators` (row-major rows × vectors) and
/// returns the sums.
llvm::SmallVector<mlir::Value> emitMicroKernel(mlir::OpBuilder &b,
                                               mlir::Location loc,
                                               const MicroKernel &tile,
                                               mlir::ValueRange accumulators);

/// Emits `acc + x · y` on vectors of floats or integers.
mlir::Value emitMultiplyAdd(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, mlir::Value y, mlir::Value acc);

/// Clones casts of a scalar onto `v`, a scalar or a vector.
mlir::Value emitCasts(mlir::OpBuilder &b,
                      llvm::ArrayRef<mlir::Operation *> casts, mlir::Value v);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_MICROKERNEL_H
