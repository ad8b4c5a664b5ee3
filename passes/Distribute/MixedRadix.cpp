//===- MixedRadix.cpp - Indices as numbers of several digits --------------===//

#include "passes/Distribute/MixedRadix.h"

using namespace mlir;
using llvm::SmallVector;

namespace mlc::dist {

using Digits = SmallVector<Digit, 2>;
using Number = std::optional<Digits>;

/// Sorts the heaviest digit first; each must exceed the sum of all later ones.
static Number ordered(Digits digits) {
  if (digits.empty())
    return digits;
  Digits sorted;
  while (!digits.empty()) {
    // The lightest digit's weight divides all others.
    auto isLightest = [&](const Digit &digit) {
      return llvm::all_of(digits, [&](const Digit &other) {
        return other.weight.exactDiv(digit.weight).has_value();
      });
    };
    auto it = llvm::find_if(digits, isLightest);
    if (it == digits.end())
      return std::nullopt;
    sorted.insert(sorted.begin(), *it);
    digits.erase(it);
  }
  IntExpr rest = sorted.front().weight * 0;
  for (const Digit &digit : llvm::reverse(sorted)) {
    if (!(digit.weight - rest).isKnownPositive())
      return std::nullopt;
    rest = rest + (digit.count - 1) * digit.weight;
  }
  return sorted;
}

/// The digits of the quotient or the remainder of a division by `by`.
static Number divided(const Digits &digits, IntExpr by, bool remains) {
  Digits result;
  for (const Digit &digit : digits) {
    std::optional<IntExpr> above = digit.weight.exactDiv(by);
    std::optional<IntExpr> below = by.exactDiv(digit.weight * digit.count);
    if (above && !remains)
      result.push_back({digit.loop, digit.divisor, digit.count, *above});
    if (below && remains)
      result.push_back(digit);
    if (above || below)
      continue;
    // The divisor splits this digit.
    std::optional<IntExpr> low = by.exactDiv(digit.weight), high;
    if (low)
      high = digit.count.exactDiv(*low);
    if (!low || !high)
      return std::nullopt;
    if (remains)
      result.push_back({digit.loop, digit.divisor, *low, digit.weight});
    else
      result.push_back({digit.loop, digit.divisor * *low, *high, *low * 0 + 1});
  }
  return result;
}

static Number scaled(Number digits, IntExpr by) {
  if (digits)
    for (Digit &digit : *digits)
      digit.weight = digit.weight * by;
  return digits;
}

static Number digitsOfBinary(const ExprNode &node, const Extents &extents) {
  Number a = digitsOf(node.operands[0], extents),
         b = digitsOf(node.operands[1], extents);
  const Expr &right = node.operands[1], &left = node.operands[0];
  switch (node.binary) {
  case BinaryFn::Add:
    if (!a || !b)
      return std::nullopt;
    a->append(b->begin(), b->end());
    return ordered(std::move(*a));
  case BinaryFn::Mul:
    if (left->kind == Expr::Kind::Int)
      return scaled(b, left->integer);
    return right->kind == Expr::Kind::Int ? scaled(a, right->integer)
                                          : std::nullopt;
  case BinaryFn::FloorDiv:
  case BinaryFn::Mod:
    if (right->kind != Expr::Kind::Int || !a)
      return std::nullopt;
    return divided(*a, right->integer, node.binary == BinaryFn::Mod);
  default:
    return std::nullopt;
  }
}

Number digitsOf(const Expr &index, const Extents &extents) {
  switch (index->kind) {
  case Expr::Kind::Loop: {
    auto it = extents.find(index->loop);
    if (it == extents.end())
      return std::nullopt;
    IntExpr extent = it->second;
    if (extent.isConstant(1))
      return Digits();
    IntExpr one = extent * 0 + 1;
    return Digits{{index->loop, one, extent, one}};
  }
  case Expr::Kind::Int:
    return index->integer.isConstant(0) ? Number(Digits()) : std::nullopt;
  case Expr::Kind::Binary:
    return digitsOfBinary(*index, extents);
  default:
    return std::nullopt;
  }
}

std::optional<Leading> leadingOf(const Expr &index, IntExpr size,
                                 const Extents &extents) {
  Number digits = digitsOf(index, extents);
  if (!digits || digits->empty())
    return std::nullopt;
  const Digit &first = digits->front();
  if (first.weight * first.count != size ||
      first.divisor * first.count != extents.lookup(first.loop))
    return std::nullopt;
  return Leading{first.loop, first.divisor, first.weight, first.count};
}

} // namespace mlc::dist
