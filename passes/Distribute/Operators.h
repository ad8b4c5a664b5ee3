//===- Operators.h - A rank's part of an operator ---------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_OPERATORS_H
#define MLC_PASSES_DISTRIBUTE_OPERATORS_H

#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// `op` on other operands; an attribute with the result's dims gets these
/// instead. Null, without an error, if that is not a valid operator.
mlir::Operation *rebuild(mlir::OpBuilder &builder, mlir::Operation *op,
                         mlir::ValueRange operands,
                         llvm::ArrayRef<IntExpr> dims);

/// A rank's part of `op` by a plan, on the operands that the plan asks for. It
/// is the same operator if that means the restricted definition on parts.
/// Otherwise it is `mlc.compute` with that definition, in pieces if a stage is
/// reduced in between. Null, without an error, if the definition has no text
/// (boxes of a concatenation, integers that data choose).
mlir::FailureOr<mlir::Value> emitPart(mlir::OpBuilder &builder,
                                      mlir::Operation *op, const Plan &plan,
                                      mlir::ValueRange operands, Parts &parts,
                                      AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_OPERATORS_H
