//===- Residues.cpp - Facts of numbers and of residues --------------------===//
//
// A function of an integer type is one of residues modulo 2^w: what is added to
// its arguments may be any multiple of that. Its value is one, too, but for
// truth values and what a cast makes of the number that a residue stands for.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"

using llvm::DynamicAPInt;

namespace mlc::kernel {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// `common` times a sum of integers, as an integer; nothing for others.
static std::optional<Integer> wholeOf(const Sum &sum, DynamicAPInt &common) {
  common = DynamicAPInt(1);
  DynamicAPInt most = powerOfTwo(62);
  for (const Term &term : sum) {
    for (const FactorRef &factor : term.factors)
      if (factor->kind != Factor::Kind::Number)
        return std::nullopt;
    if (!term.variables.empty() || !term.guards.empty())
      return std::nullopt;
    common = lcm(common, term.coefficient.den);
  }
  if (common >= most)
    return std::nullopt;
  Integer total = 0;
  for (const Term &term : sum) {
    DynamicAPInt number =
        term.coefficient.num * (common / term.coefficient.den);
    if (abs(number) >= most)
      return std::nullopt;
    total =
        total + Integer(static_cast<int64_t>(number)) * productOf(term).number;
    if (total.treeSize() > largestInteger)
      return std::nullopt;
  }
  return total;
}

/// The type of integers whose residues a head is of.
static std::optional<NumberType> typeOf(const Head &head) {
  std::optional<NumberType> type =
      head.getType() ? numberTypeOf(head.getType()) : std::nullopt;
  return type && type->isInteger() ? type : std::nullopt;
}

/// The type of residues of two of which it calls a function, given as that of
/// the reals.
static std::optional<NumberType> typeOfTwo(const Factor &factor,
                                           const Head &ofReals) {
  bool isOfTwo =
      factor.kind == Factor::Kind::Call && factor.arguments.size() == 2;
  return isOfTwo && factor.head.ofReals() == ofReals ? typeOf(factor.head)
                                                     : std::nullopt;
}

/// The number of a type that a sum is, if that is known.
static std::optional<DynamicAPInt> numberOf(const NumberType &type,
                                            const Sum &sum) {
  std::optional<Rational> number = asConstant(sum);
  if (!number || number->den != DynamicAPInt(1))
    return std::nullopt;
  return type.wrapped(number->num);
}

/// What a number is cast to.
static bool castNumber(const Factor &factor, Sum &value) {
  auto types = castOf(factor);
  if (!types)
    return false;
  if (std::optional<Rational> number = asConstant(factor.arguments[0])) {
    std::optional<Rational> result =
        convertedNumber(*number, types->first, types->second);
    if (result)
      value = constant(*result);
    return result.has_value();
  }
  // Nothing is cut off what is whole.
  value = factor.arguments[0];
  return types->first.isFloat() &&
         types->second.kind == NumberType::Kind::Index && isWhole(value);
}

/// What a number is cast to, whether it is 0 or positive, or less than another.
bool Checker::ofNumber(const Context &inside, const Factor &factor,
                       Sum &value) {
  auto truth = [&](bool isSo) {
    value = constant(Rational(isSo ? 1 : 0));
    return true;
  };
  if (factor.kind != Factor::Kind::Call)
    return fail("there is no number");
  if (std::optional<NumberType> type = typeOfTwo(factor, Head::Kind::Less)) {
    auto x = numberOf(*type, factor.arguments[0]),
         y = numberOf(*type, factor.arguments[1]);
    return x && y ? truth(*x < *y) : fail("the order of two is not known");
  }
  if (factor.arguments.size() != 1)
    return fail("there is no number");
  if (castNumber(factor, value))
    return true;
  bool isPositive = factor.head == Head::Kind::Positive,
       isZero = factor.head.getKind() == Head::Kind::Zero;
  std::optional<NumberType> residues =
      isZero ? typeOf(factor.head) : std::nullopt;
  if (!isPositive && factor.head != Head::Kind::Zero && !residues)
    return fail("there is no number");
  if (residues)
    if (auto number = numberOf(*residues, factor.arguments[0]))
      return truth(*number == DynamicAPInt(0));
  DynamicAPInt common(1);
  std::optional<Integer> whole = wholeOf(factor.arguments[0], common);
  if (!whole || (residues && common != DynamicAPInt(1)))
    return fail("there is no number");
  if (residues) {
    constexpr unsigned mostBits = 62;
    if (residues->width > mostBits)
      return fail("a type is too wide");
    whole = Integer::apply(Integer::Kind::Modulo, *whole,
                           Integer(int64_t(1) << residues->width));
  }
  Formula yes =
      isPositive ? Formula::notNegative(*whole - 1) : Formula::zero(*whole);
  if (decider.holds(inside.known, yes))
    return truth(true);
  return decider.holds(inside.known, Formula::negation(yes))
             ? truth(false)
             : fail("whether a number is 0 or positive is not known");
}

//===----------------------------------------------------------------------===//
// Residues
//===----------------------------------------------------------------------===//

/// The number, less than 2^digits, that the lowest of the digits are.
static Sum lowDigits(const Sum &sum, unsigned digits, mlir::Type type) {
  mlir::MLIRContext *context = type.getContext();
  auto unsignedOf =
           mlir::IntegerType::get(context, digits, mlir::IntegerType::Unsigned),
       signless = mlir::IntegerType::get(context, widthOf(type));
  return single(makeCall(Head::cast(unsignedOf, signless), {sum}));
}

/// k of 2^k, between 2 and the type's width; 0 for others. A type of one bit is
/// of truth values.
static unsigned digitsOf(const DynamicAPInt &number, const NumberType &type) {
  for (unsigned k = 2; k < type.width; ++k)
    if (number == powerOfTwo(k))
      return k;
  return 0;
}

/// And, or and exclusive or of the digits of two numbers, digit by digit: with
/// itself, with 0 and -1, and, of the first, with 2^k - 1 and -2^k.
bool Checker::ofBits(const Factor &factor, Sum &value) {
  for (BinaryFn function : {BinaryFn::And, BinaryFn::Or, BinaryFn::Xor}) {
    std::optional<NumberType> type = typeOfTwo(factor, function);
    if (!type)
      continue;
    const Sum &x = factor.arguments[0], &y = factor.arguments[1];
    bool isAnd = function == BinaryFn::And, isOr = function == BinaryFn::Or;
    if (same(x, y)) {
      value = isAnd || isOr ? x : Sum();
      return true;
    }
    std::optional<DynamicAPInt> mask = numberOf(*type, y);
    if (!mask)
      break;
    if (*mask == DynamicAPInt(0)) {
      value = isAnd ? Sum() : x;
      return true;
    }
    if (type->wrapped(*mask + DynamicAPInt(1)) == DynamicAPInt(0)) {
      Sum minusOne = constant(Rational(-1));
      value = isAnd  ? x
              : isOr ? minusOne
                     : add(minusOne, scaled(x, Rational(-1)));
      return true;
    }
    if (!isAnd)
      break;
    DynamicAPInt unsignedMask = mod(*mask, powerOfTwo(type->width));
    if (unsigned k = digitsOf(unsignedMask + DynamicAPInt(1), *type)) {
      value = lowDigits(x, k, factor.head.getType());
      return true;
    }
    if (unsigned k = digitsOf(powerOfTwo(type->width) - unsignedMask, *type)) {
      value =
          add(x, scaled(lowDigits(x, k, factor.head.getType()), Rational(-1)));
      return true;
    }
    break;
  }
  return fail("there are no digits that are known");
}

/// The order of two arguments does not count.
bool Checker::commute(const Factor &factor, Sum &value) {
  for (BinaryFn function : {BinaryFn::And, BinaryFn::Or, BinaryFn::Xor})
    if (typeOfTwo(factor, function)) {
      value = single(
          makeCall(factor.head, {factor.arguments[1], factor.arguments[0]}));
      return true;
    }
  return fail("the order of arguments counts");
}

/// What 2^k leaves of a number without a sign is its lowest k digits; the
/// quotient, 2^k times, is what is left without these.
bool Checker::lowBits(const Rational &coefficient, const Factor &factor,
                      Sum &value) {
  for (BinaryFn function : {BinaryFn::Mod, BinaryFn::Div, BinaryFn::FloorDiv}) {
    std::optional<NumberType> type = typeOfTwo(factor, function);
    if (!type || !type->isUnsigned)
      continue;
    const Sum &x = factor.arguments[0];
    std::optional<DynamicAPInt> by = numberOf(*type, factor.arguments[1]);
    unsigned k = by ? digitsOf(*by, *type) : 0;
    if (k == 0)
      break;
    Sum low = lowDigits(x, k, factor.head.getType());
    if (function == BinaryFn::Mod) {
      value = std::move(low);
      return true;
    }
    Rational part(DynamicAPInt(1), powerOfTwo(k));
    value = scaled(add(x, scaled(std::move(low), Rational(-1))), part);
    return mlir::presburger::reduce(coefficient * part).den ==
               DynamicAPInt(1) ||
           fail("a residue has a fraction for coefficient");
  }
  return fail("nothing is divided by a power of 2");
}

/// A number divided by 1 or -1.
bool Checker::divideByOne(const Factor &factor, Sum &value) {
  for (BinaryFn function : {BinaryFn::Div, BinaryFn::FloorDiv}) {
    std::optional<NumberType> type = typeOfTwo(factor, function);
    std::optional<DynamicAPInt> by =
        type ? numberOf(*type, factor.arguments[1]) : std::nullopt;
    if (!by || abs(*by) != DynamicAPInt(1))
      continue;
    value = scaled(factor.arguments[0], Rational(*by));
    return true;
  }
  return fail("nothing is divided by 1");
}

/// Nothing is below the least, above the largest, or below itself.
bool Checker::orderEnds(const Factor &factor, Sum &value) {
  std::optional<NumberType> type = typeOfTwo(factor, Head::Kind::Less);
  if (!type)
    return fail("there is no order of residues");
  const Sum &x = factor.arguments[0], &y = factor.arguments[1];
  value = {};
  return same(x, y) || numberOf(*type, x) == type->largest() ||
         numberOf(*type, y) == type->least() ||
         fail("the order of two is not known");
}

/// What a monoid begins with; nothing where that is not known.
static std::optional<Rational> neutralOf(const Head &monoid) {
  bool isPlain = !monoid.getType();
  std::optional<NumberType> residues = typeOf(monoid);
  auto where = [](bool isKnown, int64_t value) {
    return isKnown ? std::optional(Rational(value)) : std::nullopt;
  };
  switch (monoid.getKind()) {
  case Head::Kind::Any:
  case Head::Kind::Parity:
    return where(isPlain, 0);
  case Head::Kind::All:
    return where(isPlain, 1);
  case Head::Kind::Prod:
    return where(isPlain || residues, 1);
  case Head::Kind::Max:
    return residues ? std::optional(Rational(residues->least())) : std::nullopt;
  case Head::Kind::Min:
    return residues ? std::optional(Rational(residues->largest()))
                    : std::nullopt;
  case Head::Kind::InOrder:
  case Head::Kind::Either:
    return std::nullopt;
  case Head::Kind::None:
  case Head::Kind::Unary:
  case Head::Kind::Binary:
  case Head::Kind::Positive:
  case Head::Kind::Zero:
  case Head::Kind::Less:
  case Head::Kind::Compare:
  case Head::Kind::Cast:
  case Head::Kind::Element:
  case Head::Kind::InRange:
  case Head::Kind::Unwritten:
  case Head::Kind::Placed:
  case Head::Kind::Joined:
    return std::nullopt;
  }
  llvm_unreachable("unknown head");
}

/// What a reduction gives that has no branch left.
bool Checker::ofNothing(const Factor &factor, Sum &value) {
  if (factor.kind != Factor::Kind::Reduce || !factor.branches.empty())
    return fail("a reduction is of something");
  std::optional<Rational> neutral = neutralOf(factor.head);
  if (!neutral)
    return fail("a reduction of nothing has no known value");
  value = constant(*neutral);
  return true;
}

} // namespace mlc::kernel
