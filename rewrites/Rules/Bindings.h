//===- Bindings.h - What a rule's symbols stand for -------------*- C++ -*-===//

#ifndef MLC_REWRITES_RULES_BINDINGS_H
#define MLC_REWRITES_RULES_BINDINGS_H

#include "dialects/Interfaces/Attributes.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// What a rule's symbols stand for.
struct Bindings {
  llvm::StringMap<IntExpr> integers;
  llvm::StringMap<RealAttr> reals;

  /// What stands for `expr`; symbols without a value stay.
  IntExpr substitute(IntExpr expr) const;
  mlir::Attribute substitute(mlir::Attribute attribute) const;
};

} // namespace mlc

#endif // MLC_REWRITES_RULES_BINDINGS_H
