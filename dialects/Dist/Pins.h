//===- Pins.h - Wanted shardings of tensors inside --------------*- C++ -*-===//

#ifndef MLC_DIALECTS_DIST_PINS_H
#define MLC_DIALECTS_DIST_PINS_H

#include "llvm/ADT/StringRef.h"

namespace mlc::dist {

/// On an operator: a `dist.sharding` of its result, to which the partitioner
/// keeps. It is whole on axes that the sharding does not name.
inline constexpr llvm::StringLiteral kPinAttr = "dist.pin";
/// Beside it: the axis that is left as it comes, a string.
inline constexpr llvm::StringLiteral kPinLeavesAttr = "dist.pin_leaves";
/// On the operator that makes the gradient of a pinned result, which has the
/// same pin: the node of the model that the result is of.
inline constexpr llvm::StringLiteral kPinGradientAttr = "dist.pin_gradient_of";

inline constexpr llvm::StringLiteral kPinAttrs[] = {kPinAttr, kPinLeavesAttr,
                                                    kPinGradientAttr};

} // namespace mlc::dist

#endif // MLC_DIALECTS_DIST_PINS_H
