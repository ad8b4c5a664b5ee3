//===- MakeExpr.h - Expressions of nodes ------------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_MAKEEXPR_H
#define MLC_PASSES_DISTRIBUTE_MAKEEXPR_H

#include "dialects/Definition/Definition.h"

namespace mlc::dist {

inline Expr make(ExprNode node) {
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_MAKEEXPR_H
