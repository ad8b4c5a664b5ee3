//===- IntExprSize.h - The size of a symbolic integer -----------*- C++ -*-===//
//
// Everything that walks an IntExpr recurses, and a small expression with shared
// operands can be large to walk. Code that builds expressions from text checks
// the size here and rejects what is too large.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_DIALECTS_SYMBOLIC_INTEXPRSIZE_H
#define MLC_DIALECTS_SYMBOLIC_INTEXPRSIZE_H

#include "dialects/Symbolic/IntExpr.h"

namespace mlc {

struct IntExprSize {
  /// The nesting depth of operands; 0 for constants and symbols.
  unsigned depth = 0;
  /// Operations, constants and symbols that a walk sees.
  unsigned nodes = 1;

  static constexpr unsigned maxDepth = 128, maxNodes = 1 << 14;
  /// Terms of a polynomial; longer ones are not expanded.
  static constexpr unsigned maxTerms = 1024;

  bool isTooLarge() const { return depth > maxDepth || nodes > maxNodes; }
};

/// The size, which is stored with the expression.
IntExprSize sizeOf(IntExpr expr);

} // namespace mlc

#endif // MLC_DIALECTS_SYMBOLIC_INTEXPRSIZE_H
