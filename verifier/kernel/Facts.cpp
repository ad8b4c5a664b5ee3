//===- Facts.cpp - Facts of functions and of maxima -----------------------===//
//
// Of the reals: each is a textbook's identity, with its condition.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// What the table of functions gives for 0, or 1.
static bool atNumber(bool isOne, const Factor &factor, Sum &value) {
  std::optional<UnaryFn> function = functionOf(factor);
  if (!function)
    return false;
  const ScalarFunction &facts = factsOf(*function);
  std::optional<Rational> argument = asConstant(factor.arguments[0]);
  bool isThere = argument == Rational(isOne ? 1 : 0);
  bool isKnown =
      isOne ? facts.isDefinedAt(1.0) && ScalarFunction::isWhole(facts.atOne)
            : facts.hasZero();
  if (!isThere || !isKnown)
    return false;
  value = constant(
      Rational(static_cast<int64_t>(isOne ? facts.atOne : facts.atZero)));
  return true;
}

/// 1/(x y), into 1/x and 1/y.
static bool splitReciprocal(const Factor &factor, Sum &value, Names &names) {
  bool isProduct = isCall(factor, UnaryFn::Reciprocal) &&
                   factor.arguments[0].size() == 1 &&
                   factor.arguments[0][0].variables.empty() &&
                   factor.arguments[0][0].guards.empty() &&
                   factor.arguments[0][0].coefficient != Rational(0);
  if (!isProduct)
    return false;
  const Term &product = factor.arguments[0][0];
  value = constant(Rational(1) / product.coefficient);
  for (const FactorRef &part : product.factors)
    value =
        multiply(value,
                 isCall(*part, UnaryFn::Reciprocal)
                     ? part->arguments[0]
                     : single(makeCall(UnaryFn::Reciprocal, {single(part)})),
                 names);
  return true;
}

/// The value of the step's one factor.
bool Checker::factOfOne(const Step &step, const Context &inside,
                        const Term &term, Sum &value) {
  const Factor &factor = *term.factors[step.factor];
  if (step.kind == Step::Kind::AtZero || step.kind == Step::Kind::AtOne)
    return atNumber(step.kind == Step::Kind::AtOne, factor, value) ||
           fail("a function of 0 or 1 has no known value");
  if (step.kind == Step::Kind::SplitReciprocal)
    return splitReciprocal(factor, value, names) ||
           fail("what is inverted is no product");
  if (step.kind == Step::Kind::LogOfExp) {
    const Factor *inner = isCall(factor, UnaryFn::Log)
                              ? onlyFactor(factor.arguments[0])
                              : nullptr;
    if (!inner || factor.arguments[0][0].coefficient != Rational(1) ||
        !isCall(*inner, UnaryFn::Exp))
      return fail("a function is not applied to its inverse");
    value = inner->arguments[0];
    return true;
  }
  switch (step.kind) {
  case Step::Kind::OfNumber:
    return ofNumber(inside, factor, value);
  case Step::Kind::OfBits:
    return ofBits(factor, value);
  case Step::Kind::Commute:
    return commute(factor, value);
  case Step::Kind::LowBits:
    return lowBits(term.coefficient, factor, value);
  case Step::Kind::DivideByOne:
    return divideByOne(factor, value);
  case Step::Kind::OrderEnds:
    return orderEnds(factor, value);
  case Step::Kind::OfNothing:
    return ofNothing(factor, value);
  default:
    return factOfFunction(step, inside, term, value);
  }
}

static Sum call(UnaryFn function, Sum argument) {
  return single(makeCall(function, {std::move(argument)}));
}

/// exp(y + log(x)) and exp(y - log(x)).
static bool splitExponential(const Factor &factor, unsigned place, Sum &inner,
                             Sum &value, Names &names) {
  if (!isCall(factor, UnaryFn::Exp) || place >= factor.arguments[0].size())
    return false;
  Sum rest = factor.arguments[0];
  Term term = rest[place];
  rest.erase(rest.begin() + place);
  const Factor *log = onlyFactor({term});
  bool isPlus = term.coefficient == Rational(1);
  if (!log || !isCall(*log, UnaryFn::Log) ||
      (!isPlus && term.coefficient != Rational(-1)))
    return false;
  inner = log->arguments[0];
  value = isPlus ? inner : call(UnaryFn::Reciprocal, inner);
  if (!rest.empty())
    value = multiply(value, call(UnaryFn::Exp, std::move(rest)), names);
  return true;
}

/// sqrt(x y), into sqrt(x) and sqrt(y).
static bool splitRoot(const Factor &factor, unsigned place, Sum &first,
                      Sum &second) {
  if (!isCall(factor, UnaryFn::Sqrt) || factor.arguments[0].size() != 1)
    return false;
  Term rest = factor.arguments[0][0];
  if (!rest.variables.empty() || !rest.guards.empty() ||
      place >= rest.factors.size())
    return false;
  first = single(rest.factors[place]);
  rest.factors.erase(rest.factors.begin() + place);
  second = {rest};
  return true;
}

/// 1/exp(x).
static bool invertExponential(const Factor &factor, Sum &value) {
  const Factor *exp = isCall(factor, UnaryFn::Reciprocal)
                          ? onlyFactor(factor.arguments[0])
                          : nullptr;
  if (!exp || !isCall(*exp, UnaryFn::Exp))
    return false;
  value = scaled(call(UnaryFn::Exp, scaled(exp->arguments[0], Rational(-1))),
                 Rational(1) / factor.arguments[0][0].coefficient);
  return true;
}

static bool unfoldTanh(const Factor &factor, Sum &value) {
  if (!isCall(factor, UnaryFn::Tanh))
    return false;
  Sum one = constant(Rational(1)),
      exp = call(UnaryFn::Exp, scaled(factor.arguments[0], Rational(-2)));
  value = add(scaled(call(UnaryFn::Reciprocal, add(one, exp)), Rational(2)),
              scaled(one, Rational(-1)));
  return true;
}

/// f(-x), turned around.
static bool mirror(const Factor &factor, Sum &value) {
  std::optional<UnaryFn> function = functionOf(factor);
  if (!function)
    return false;
  const ScalarFunction &facts = factsOf(*function);
  // 1/0 is 0, so that this needs no condition.
  if (facts.parity == Parity::None ||
      (!facts.isDefinedEverywhere() && function != UnaryFn::Reciprocal))
    return false;
  value = scaled(call(*function, scaled(factor.arguments[0], Rational(-1))),
                 Rational(facts.parity == Parity::Odd ? -1 : 1));
  return true;
}

static bool mentionsReduction(const Sum &sum) {
  return llvm::any_of(sum, [](const Term &term) {
    return llvm::any_of(term.factors, [](const FactorRef &factor) {
      return factor->kind == Factor::Kind::Reduce ||
             llvm::any_of(factor->arguments, mentionsReduction);
    });
  });
}

/// Infinity is larger than all else. Nothing is said of maxima, which may be of
/// nothing.
static bool orderOfInfinity(const Factor &factor, Sum &value) {
  bool isPositive = isCall(factor, Head::Kind::Positive);
  if (!isPositive && !isCall(factor, Head::Kind::Zero))
    return false;
  Sum rest = factor.arguments[0];
  auto it = llvm::find_if(rest, [](const Term &term) {
    const Factor *only = onlyFactor({term});
    return only && only->kind == Factor::Kind::Parameter &&
           only->parameter == infinityName;
  });
  if (it == rest.end())
    return false;
  bool isAbove = it->coefficient > Rational(0);
  rest.erase(it);
  value = constant(Rational(isPositive && isAbove ? 1 : 0));
  return !mentionsInfinity(rest) && !mentionsReduction(rest);
}

/// [x = 0] by the signs of x.
static bool signsOfZero(const Factor &factor, Sum &value) {
  if (!isCall(factor, Head::Kind::Zero) ||
      mentionsInfinity(factor.arguments[0]))
    return false;
  value = constant(Rational(1));
  for (int sign : {1, -1}) {
    Sum side = scaled(factor.arguments[0], Rational(sign));
    value.push_back(
        {Rational(-1), {}, {}, {makeCall(Head::Kind::Positive, {side}, true)}});
  }
  return true;
}

/// The value of one function.
bool Checker::factOfFunction(const Step &step, const Context &inside,
                             const Term &term, Sum &value) {
  const Factor &factor = *term.factors[step.factor];
  std::vector<Sum> path = pathOf(term, step.factor, step.factor);
  auto isNeeded = [&](size_t i, Need::Kind kind, const Sum &x) {
    return i < step.need.size() &&
           isShown(kind, 0, inside, x, path, step.need[i]);
  };
  auto argumentOf = [&](const Head &function) {
    return isCall(factor, function) ? &factor.arguments[0] : nullptr;
  };
  Sum first, second;
  switch (step.kind) {
  case Step::Kind::ExpOfLog:
    return splitExponential(factor, step.other, first, value, names) &&
           isNeeded(0, Need::Kind::Positive, first);
  case Step::Kind::RootOfProduct:
    if (!splitRoot(factor, step.other, first, second) ||
        !isNeeded(0, Need::Kind::NotNegative, first) ||
        !isNeeded(1, Need::Kind::NotNegative, second))
      return false;
    value = multiply(call(UnaryFn::Sqrt, first), call(UnaryFn::Sqrt, second),
                     names);
    return true;
  case Step::Kind::RootOfSquare:
    if (!splitRoot(factor, 0, first, second) || !same(first, second))
      return false;
    value = call(UnaryFn::Abs, first);
    return true;
  case Step::Kind::InvertExponential:
    return invertExponential(factor, value);
  case Step::Kind::UnfoldTanh:
    return unfoldTanh(factor, value);
  case Step::Kind::Mirror:
    return mirror(factor, value);
  case Step::Kind::Magnitude:
    if (const Sum *x = argumentOf(UnaryFn::Abs)) {
      value = single(makeReduce(
          Head::Kind::Max, {{{}, {}, *x}, {{}, {}, scaled(*x, Rational(-1))}}));
      return true;
    }
    return false;
  case Step::Kind::Choose:
    return choose(step, inside, factor, value);
  case Step::Kind::SignsOfZero:
    return signsOfZero(factor, value);
  case Step::Kind::Decide:
    if (const Sum *x = argumentOf(Head::Kind::Positive);
        x && !mentionsInfinity(*x)) {
      value = constant(Rational(step.part ? 1 : 0));
      return step.part ? isNeeded(0, Need::Kind::Positive, *x)
                       : isNeeded(0, Need::Kind::NotNegative,
                                  scaled(*x, Rational(-1)));
    }
    return false;
  case Step::Kind::SameOrder:
    return sameOrder(step, inside, factor, path, value);
  case Step::Kind::ScaleOrder:
    return scaleOrder(step, factor, value);
  case Step::Kind::OrderOfInfinity:
    return orderOfInfinity(factor, value);
  case Step::Kind::OrderOfMaximum:
    return orderOfMaximum(step, inside, factor, value);
  default:
    return fail("an unknown step");
  }
}

/// The value of the product of the step's two factors.
bool Checker::factOfTwo(const Step &step, const Context &inside,
                        const Term &term, Sum &value) {
  if (step.other >= term.factors.size() || step.other == step.factor)
    return fail("a step has no second factor");
  const FactorRef &first = term.factors[step.factor],
                  &second = term.factors[step.other];
  std::vector<Sum> path = pathOf(term, step.factor, step.other);
  if (step.kind == Step::Kind::JoinExponentials) {
    if (!isCall(*first, UnaryFn::Exp) || !isCall(*second, UnaryFn::Exp))
      return fail("a factor is no exponential");
    value = single(makeCall(UnaryFn::Exp,
                            {add(first->arguments[0], second->arguments[0])}));
    return true;
  }
  if (step.kind == Step::Kind::SquareOfRoot) {
    if (!isCall(*first, UnaryFn::Sqrt) || !same(*first, *second))
      return fail("a factor is no root");
    value = first->arguments[0];
    return step.need.size() == 1 && isShown(Need::Kind::NotNegative, 0, inside,
                                            value, path, step.need[0]);
  }
  if (step.kind == Step::Kind::SquareOfSine) {
    if (!isCall(*first, UnaryFn::Sin) || !same(*first, *second))
      return fail("a factor is no sine");
    Sum cosine = single(makeCall(UnaryFn::Cos, {first->arguments[0]}));
    value = add(constant(Rational(1)),
                scaled(multiply(cosine, cosine, names), Rational(-1)));
    return true;
  }
  if (step.kind == Step::Kind::SquareOfMagnitude) {
    mlir::Type type = first->head.getType();
    bool isOfResidues =
        type && widthOf(type) > 0 && isCall(*first, {UnaryFn::Abs, type});
    if (!isOfResidues || !same(*first, *second))
      return fail("a factor is no magnitude of a residue");
    value = multiply(first->arguments[0], first->arguments[0], names);
    return true;
  }
  if (step.kind == Step::Kind::JoinPowers) {
    auto isPower = [](const Factor &factor) {
      return factor.kind == Factor::Kind::Call &&
             factor.head == BinaryFn::Pow && factor.arguments.size() == 2;
    };
    if (!isPower(*first) || !isPower(*second) ||
        !same(first->arguments[0], second->arguments[0]))
      return fail("two factors are no powers of the same");
    const Sum &base = first->arguments[0];
    value = single(makeCall(
        first->head, {base, add(first->arguments[1], second->arguments[1])}));
    return step.need.size() == 1 &&
           isShown(Need::Kind::Positive, 0, inside, base, path, step.need[0]);
  }
  if (step.kind == Step::Kind::JoinReciprocals) {
    if (!isCall(*first, UnaryFn::Reciprocal) ||
        !isCall(*second, UnaryFn::Reciprocal))
      return fail("a factor is no reciprocal");
    Sum product = first->arguments[0];
    if (!multiplyInto(product, second->arguments[0]))
      return false;
    value = single(makeCall(UnaryFn::Reciprocal, {std::move(product)}));
    return true;
  }
  const Factor *inverted = isCall(*second, UnaryFn::Reciprocal)
                               ? onlyFactor(second->arguments[0])
                               : nullptr;
  bool areNumbers = inverted && inverted->kind == Factor::Kind::Number &&
                    first->kind == Factor::Kind::Number;
  bool isInverse =
      areNumbers
          ? decider.holds(inside.known,
                          Formula::equal(inverted->index[0], first->index[0]))
          : inverted && same(*inverted, *first);
  if (!isInverse)
    return fail("a factor is not the other's inverse");
  value = constant(Rational(1) / second->arguments[0][0].coefficient);
  return step.need.size() == 1 && isShown(Need::Kind::NotZero, 0, inside,
                                          single(first), path, step.need[0]);
}

bool Checker::applyFact(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  if (step.factor >= term.factors.size())
    return fail("a step has no factor");
  Context inside = opened(context, term);
  bool isOfTwo = step.kind == Step::Kind::Cancel ||
                 step.kind == Step::Kind::JoinExponentials ||
                 step.kind == Step::Kind::JoinPowers ||
                 step.kind == Step::Kind::JoinReciprocals ||
                 step.kind == Step::Kind::SquareOfRoot ||
                 step.kind == Step::Kind::SquareOfSine ||
                 step.kind == Step::Kind::SquareOfMagnitude;
  Sum value;
  if (!(isOfTwo ? factOfTwo(step, inside, term, value)
                : factOfOne(step, inside, term, value)))
    return fail("a fact does not apply");
  std::vector<FactorRef> rest;
  for (auto [i, factor] : llvm::enumerate(term.factors))
    if (i != step.factor && !(isOfTwo && i == step.other))
      rest.push_back(factor);
  term.factors = std::move(rest);
  Sum product = multiply({term}, value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

} // namespace mlc::kernel
