//===- GuardedProduct.h - Products that are 0 with a factor -----*- C++ -*-===//
//
// select(x == 0, 0, x * s) equals x s as a real number. As floats it is 0 at x
// = 0, even if s is infinite or NaN there. Gradients are built this way, so
// that a cotangent of 0 contributes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_DEFINITION_GUARDEDPRODUCT_H
#define MLC_DIALECTS_DEFINITION_GUARDEDPRODUCT_H

#include "dialects/Definition/Definition.h"

namespace mlc {

/// For a float select(x == 0, 0, p) where p is a product with x in every
/// branch: p. Null for others.
Expr asGuardedProduct(const ExprNode &node);

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_GUARDEDPRODUCT_H
