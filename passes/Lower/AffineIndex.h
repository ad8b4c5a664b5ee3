//===- AffineIndex.h - Index expressions as affine maps ---------*- C++ -*-===//
//
// A read's index, `h * 2 + u - p`, as an affine expression of the loop nest's
// dims with constant coefficients, plus an offset that may be symbolic, with
// its range.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_LOWER_AFFINEINDEX_H
#define MLC_PASSES_LOWER_AFFINEINDEX_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc {

/// The loops of one linalg op: loop `id` is dim `position.at(id)`.
struct LoopNest {
  llvm::SmallVector<Loop> loops;
  llvm::DenseMap<unsigned, unsigned> position;

  void add(const Loop &loop) {
    position[loop.id] = loops.size();
    loops.push_back(loop);
  }
  unsigned size() const { return loops.size(); }
};

/// `expr + offset`. `expr` has no constant term of its own except under a
/// floordiv or mod. It takes values in [min, max]; max < min if a loop is
/// empty.
struct AffineIndex {
  mlir::AffineExpr expr;
  IntExpr offset, min, max;

  /// Range with the offset.
  IntExpr lowest() const { return min + offset; }
  IntExpr highest() const { return max + offset; }
  /// `expr` is a single loop.
  bool isLoop() const { return mlir::isa<mlir::AffineDimExpr>(expr); }
  bool isConstant() const { return mlir::isa<mlir::AffineConstantExpr>(expr); }
};

/// The index as an affine expression of `nest`; nothing if it is not affine
/// with constant coefficients (minimum, elements of tensors, symbolic strides).
/// Loops of extent 1 are left out of sums.
std::optional<AffineIndex> getAffineIndex(const Expr &index,
                                          const LoopNest &nest);

} // namespace mlc

#endif // MLC_PASSES_LOWER_AFFINEINDEX_H
