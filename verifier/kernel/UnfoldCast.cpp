//===- UnfoldCast.cpp - Elements of one type made ones of another ---------===//

#include "verifier/kernel/Unfolder.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

/// Of integers, to an integer: the number modulo 2^width, with a sign or not.
static Head castHead(mlir::Type from, mlir::Type to) {
  bool areIntegers = widthOf(from) && widthOf(to);
  return Head::cast(
      from,
      areIntegers ? mlir::IntegerType::get(to.getContext(), widthOf(to)) : to);
}

/// A cast of integers whose every number it keeps, and type `between` has: what
/// is cast on from there is cast from these. Null for others.
static const Factor *castBetween(const Sum &sum, const NumberType &between) {
  const Factor *factor = onlyFactor(sum);
  if (!factor || sum[0].coefficient != Rational(1))
    return nullptr;
  auto types = castOf(*factor);
  if (!types || !types->first.isInteger())
    return nullptr;
  bool isExact =
      types->second.isInteger() || holdsNumbersOf(types->second, types->first);
  return isExact && holdsNumbersOf(between, types->first) ? factor : nullptr;
}

/// A cast from type `from` of what was made it by a cast between; nothing where
/// that makes a difference.
static std::optional<Sum> castFromInner(const Sum &sum, mlir::Type from,
                                        mlir::Type to) {
  std::optional<NumberType> between = numberTypeOf(from),
                            target = numberTypeOf(to);
  const Factor *inner =
      between && target ? castBetween(sum, *between) : nullptr;
  if (!inner)
    return std::nullopt;
  const NumberType type = castOf(*inner)->first;
  const Sum &argument = inner->arguments[0];
  mlir::Type source = inner->head.getType();
  // A float that an integer type does not hold has no value in it.
  if (!isTruth(to) && isFloat(from) && !isFloat(to) &&
      !holdsNumbersOf(*target, type))
    return std::nullopt;
  if (isTruth(to))
    return inverse(
        single(makeCall({Head::Kind::Zero, source}, {argument}, true)));
  if (target->isInteger() && target->width <= type.width)
    return argument;
  return single(makeCall(castHead(source, to), {argument}));
}

Value Unfolder::unfoldCast(const ExprNode &node, const Scope &scope) {
  Value x = unfold(node.operands[0], scope);
  mlir::Type from = node.operands[0]->type, to = node.type;
  // Truth values are the numbers 0 and 1; an index is the number that it is, as
  // a residue and, where rounding is none of our business, as a float.
  auto width = [](mlir::Type type) { return type.getIntOrFloatBitWidth(); };
  bool isOfBits = isBits(from) || isBits(to);
  auto isRounded = [&] { // as an index
    return !holdsNumbersOf(to, mlir::Float32Type::get(to.getContext()));
  };
  bool isIdentity =
      from == to || (isTruth(from) && holdsNumbersOf(to, from)) ||
      (isIndex(from) && widthOf(to)) ||
      (widthOf(from) && widthOf(to) && width(to) <= width(from)) ||
      (!isOfBits && isFloat(to) &&
       ((isIndex(from) && !isRounded()) ||
        (isFloat(from) && holdsNumbersOf(to, from))));
  if (!isOfBits && x.size() == 1 && from != to)
    if (std::optional<Sum> inner = castFromInner(x[0].value, from, to))
      return plain(std::move(*inner));
  if (isIdentity)
    return x;
  if (isTruth(to) && !isOfBits) {
    Head zero(Head::Kind::Zero, widthOf(from) ? from : mlir::Type());
    return apply({x}, [&](ArrayRef<Sum> s) {
      return inverse(single(makeCall(zero, {s[0]}, true)));
    });
  }
  return call(castHead(from, to), {x}, isTruth(to));
}

bool Unfolder::isCastBack(const ExprNode &node, const Scope &scope) {
  mlir::Type from = node.operands[0]->type;
  Value x = unfold(node.operands[0], scope);
  return !isBits(from) && !isBits(node.type) && x.size() == 1 &&
         castFromInner(x[0].value, from, node.type).has_value();
}

} // namespace mlc::kernel
