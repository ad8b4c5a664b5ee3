//===- AdjointIndices.h - Which loops read an element -----------*- C++ -*-===//
//
// Internal to Adjoint.cpp: an element at index maps of loops, turned round.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_ADJOINTINDICES_H
#define MLC_DIALECTS_INTERFACES_ADJOINTINDICES_H

#include "dialects/Interfaces/Definition.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::adjoint {

/// Loops of the definition that is differentiated have these numbers and
/// above, so that they are told from a builder's.
constexpr unsigned firstForeignLoop = 1 << 24;

/// What one read contributes to the tensor that it reads, wherever the indices
/// are in range: `value`, for each point of the loops, at `indices`.
struct Contribution {
  /// The loops of the element that is computed, then those of reductions.
  llvm::SmallVector<Loop> loops;
  unsigned numOuter = 0;
  llvm::SmallVector<Expr> indices;
  Expr value;
  /// Whether `value` is 0 wherever an outer loop leaves its extent and what is
  /// read out of range counts as 0.
  bool vanishesOutside = false;
};

/// The loop `id`, of the type of `like`.
Expr loopExpr(const Expr &like, unsigned id);

/// The sum of `value` over all points of the loops that `indices` map to
/// `target` (loops of `builder`, with these `extents`).
Expr gather(DefinitionBuilder &builder, const Contribution &contribution,
            llvm::ArrayRef<Expr> target,
            const llvm::DenseMap<unsigned, IntExpr> &extents);

/// `expr` with foreign loops as `values` say; reductions get loops of
/// `builder`.
Expr withLoops(DefinitionBuilder &builder, const Expr &expr,
               const llvm::DenseMap<unsigned, Expr> &values);

/// `expr` with 0 for what is read where an index is not evidently in range.
Expr guardReads(DefinitionBuilder &builder, const Expr &expr,
                llvm::DenseMap<unsigned, IntExpr> extents,
                llvm::function_ref<TensorShape(TensorId)> shapeOf);

} // namespace mlc::adjoint

#endif // MLC_DIALECTS_INTERFACES_ADJOINTINDICES_H
