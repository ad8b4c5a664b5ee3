//===- Rules.h - Hand-written gradients -------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_RULES_H
#define MLC_PASSES_DIFFERENTIATE_RULES_H

#include "mlir/IR/Builders.h"

namespace mlc {

/// Gradients with respect to the operands of `op` whose results have these
/// `cotangents` (null: none). They are better than those derived from its
/// definition, because they use operators that kernels know, or avoid
/// cancellation, or it has no definition. One per operand, null for those that
/// no rule knows; empty if there is no rule.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
gradientsByRule(mlir::OpBuilder &builder, mlir::Operation *op,
                llvm::ArrayRef<mlir::Value> cotangents,
                llvm::ArrayRef<bool> wanted);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_RULES_H
