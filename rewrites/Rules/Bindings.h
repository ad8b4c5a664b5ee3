//===- Bindings.h - The values of a rule's symbols --------------*- C++ -*-===//

#ifndef MLC_REWRITES_RULES_BINDINGS_H
#define MLC_REWRITES_RULES_BINDINGS_H

#include "dialects/Symbolic/Attributes.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// The values of a rule's symbols.
struct Bindings {
  llvm::StringMap<IntExpr> integers;
  llvm::StringMap<RealAttr> reals;

  /// `expr` with values substituted; symbols without a value stay.
  IntExpr substitute(IntExpr expr) const;
  mlir::Attribute substitute(mlir::Attribute attribute) const;
};

} // namespace mlc

#endif // MLC_REWRITES_RULES_BINDINGS_H
