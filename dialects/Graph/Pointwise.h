//===- Pointwise.h - Shared parts of element-wise definitions ---*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_POINTWISE_H
#define MLC_DIALECTS_GRAPH_POINTWISE_H

#include "dialects/Definition/OpInterfaces.h"

namespace mlc {

/// Which element types an element-wise operator takes.
enum class ElementClass { Any, Number, Float, Integer, Bool };

/// All operands have one rank.
mlir::LogicalResult checkSameRank(mlir::Operation *op);
/// All operands have one rank and one element type of the class.
mlir::LogicalResult checkPointwise(mlir::Operation *op, ElementClass elements);

/// `Y[i...] = body(X0[i...], X1[i...], ...)` over operands of equal dims.
void definePointwise(DefinitionBuilder &builder, unsigned numOperands,
                     llvm::function_ref<Expr(llvm::ArrayRef<Expr>)> body);

/// min(max(x, low), high), omitting infinite bounds.
Expr defineClip(DefinitionBuilder &builder, Expr x, RealAttr low,
                RealAttr high);

/// The integer remainder with the divisor's sign.
Expr defineMod(DefinitionBuilder &builder, Expr a, Expr b);

} // namespace mlc

#endif // MLC_DIALECTS_GRAPH_POINTWISE_H
