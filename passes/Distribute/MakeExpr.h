//===- MakeExpr.h - Expressions of nodes ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_MAKEEXPR_H
#define MLC_PASSES_DISTRIBUTE_MAKEEXPR_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

namespace mlc::dist {

inline Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

/// Whether it is the constant NaN of floats, of which n copies add up to NaN.
inline bool isNaN(const Expr &expr) {
  return expr->kind == Expr::Kind::Constant &&
         llvm::isa<mlir::FloatType>(expr->type) && std::isnan(expr->number);
}

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_MAKEEXPR_H
