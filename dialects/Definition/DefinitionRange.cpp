//===- DefinitionRange.cpp - Which reads are evidently in range -----------===//

#include "dialects/Definition/DefinitionText.h"

namespace mlc {

namespace {

struct Range {
  IntExpr low, high;
};

using Extents = llvm::DenseMap<unsigned, IntExpr>;

std::optional<Range> rangeOf(const Expr &expr, const Extents &extents);

std::optional<Range> rangeOfBinary(const ExprNode &node,
                                   const Extents &extents) {
  std::optional<Range> a = rangeOf(node.operands[0], extents),
                       b = rangeOf(node.operands[1], extents);
  if (!a || !b)
    return std::nullopt;
  switch (node.binary) {
  case BinaryFn::Add:
    return Range{a->low + b->low, a->high + b->high};
  case BinaryFn::Sub:
    return Range{a->low - b->high, a->high - b->low};
  case BinaryFn::Mul:
    if (a->low == a->high)
      std::swap(a, b);
    if (b->low != b->high || !b->low.isKnownNonNegative())
      return std::nullopt;
    return Range{a->low * b->low, a->high * b->low};
  case BinaryFn::FloorDiv:
    return Range{a->low.floorDiv(b->low), a->high.floorDiv(b->low)};
  case BinaryFn::Mod:
    return Range{b->low * 0, b->low - 1};
  case BinaryFn::Min:
    return Range{IntExpr::min(a->low, b->low), IntExpr::min(a->high, b->high)};
  case BinaryFn::Max:
    return Range{IntExpr::max(a->low, b->low), IntExpr::max(a->high, b->high)};
  default:
    return std::nullopt;
  }
}

std::optional<Range> rangeOf(const Expr &expr, const Extents &extents) {
  switch (expr->kind) {
  case Expr::Kind::Loop: {
    IntExpr extent = extents.lookup(expr->loop);
    return extent ? std::optional(Range{extent * 0, extent - 1}) : std::nullopt;
  }
  case Expr::Kind::Int:
    return Range{expr->integer, expr->integer};
  case Expr::Kind::Binary:
    return rangeOfBinary(*expr, extents);
  default:
    return std::nullopt;
  }
}

} // namespace

bool isEvidentlyInRange(const Expr &index, IntExpr dim,
                        const Extents &extents) {
  std::optional<Range> range = rangeOf(index, extents);
  return range && range->low.isKnownNonNegative() &&
         (dim - range->high).isKnownPositive();
}

} // namespace mlc
