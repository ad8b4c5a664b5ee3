//===- GuardedProduct.h - Products that are 0 with a factor -----*- C++ -*-===//
//
// select(x == 0, 0, x * s): as a number it is x s. As floats it is 0 where x
// is, though s is infinite or no number there. Gradients are made so: where a
// cotangent is 0, nothing comes of it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_INTERFACES_GUARDEDPRODUCT_H
#define MLC_DIALECTS_INTERFACES_GUARDEDPRODUCT_H

#include "dialects/Interfaces/Definition.h"

namespace mlc {

/// Of select(x == 0, 0, p), of floats, where p is a product with x, by every
/// choice in it: p. Null for others.
Expr asGuardedProduct(const ExprNode &node);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_GUARDEDPRODUCT_H
