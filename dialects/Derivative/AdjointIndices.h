//===- AdjointIndices.h - Which loops read an element -----------*- C++ -*-===//
//
// Internal to Adjoint.cpp: inverts the index maps of reads.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DERIVATIVE_ADJOINTINDICES_H
#define MLC_DIALECTS_DERIVATIVE_ADJOINTINDICES_H

#include "dialects/Definition/Definition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::adjoint {

/// The first id of loops of the definition that is differentiated, so that they
/// differ from a builder's.
constexpr unsigned firstForeignLoop = 1 << 24;

/// The contribution of one read to the tensor that it reads, where the indices
/// are in range: `value`, for each point of the loops, at `indices`.
struct Contribution {
  /// The loops of the computed element, then those of reductions.
  llvm::SmallVector<Loop> loops;
  unsigned numOuter = 0;
  llvm::SmallVector<Expr> indices;
  Expr value;
  /// Whether `value` is 0 outside the outer loops' extents, if reads out of
  /// range give 0.
  bool vanishesOutside = false;
};

/// The loop `id`, of the type of `like`.
Expr loopExpr(const Expr &like, unsigned id);

/// The sum of `value` over all points of the loops that `indices` map to
/// `target` (loops of `builder`, with these `extents`).
Expr gather(DefinitionBuilder &builder, const Contribution &contribution,
            llvm::ArrayRef<Expr> target,
            const llvm::DenseMap<unsigned, IntExpr> &extents);

/// `expr` with foreign loops replaced by `values`; reductions get new loops of
/// `builder`.
Expr withLoops(DefinitionBuilder &builder, const Expr &expr,
               const llvm::DenseMap<unsigned, Expr> &values);

/// `expr` with reads guarded by 0 unless they are evidently in range.
Expr guardReads(DefinitionBuilder &builder, const Expr &expr,
                llvm::DenseMap<unsigned, IntExpr> extents,
                llvm::function_ref<TensorShape(TensorId)> shapeOf);

} // namespace mlc::adjoint

#endif // MLC_DIALECTS_DERIVATIVE_ADJOINTINDICES_H
