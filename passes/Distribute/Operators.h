//===- Operators.h - What a rank carries out of an operator -----*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_OPERATORS_H
#define MLC_PASSES_DISTRIBUTE_OPERATORS_H

#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// `op` of other operands, with these in place of its result's dims where an
/// attribute has them. Null, without an error, where that is no operator.
mlir::Operation *rebuild(mlir::OpBuilder &builder, mlir::Operation *op,
                         mlir::ValueRange operands,
                         llvm::ArrayRef<IntExpr> dims);

/// A rank's part of `op` by a plan, of the operands that the plan has: the same
/// operator where it means on parts what the restricted definition says, else
/// `mlc.compute` with that, in pieces where a stage is reduced in between.
/// Null, without an error, where that has no text (boxes of a concatenation,
/// integers that data choose).
mlir::FailureOr<mlir::Value> emitPart(mlir::OpBuilder &builder,
                                      mlir::Operation *op, const Plan &plan,
                                      mlir::ValueRange operands, Parts &parts,
                                      AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_OPERATORS_H
