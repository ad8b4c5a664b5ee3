//===- Orders.cpp - Facts of the order of two values ----------------------===//

#include "verifier/kernel/Check.h"

using llvm::ArrayRef;

namespace mlc::kernel {

/// The two functions of a difference a f(x) - a f(y); nothing for others.
static std::optional<std::array<const Factor *, 2>>
differenceOfCalls(const Sum &sum) {
  if (sum.size() != 2 || sum[0].coefficient + sum[1].coefficient != Rational(0))
    return std::nullopt;
  const Factor *first = onlyFactor({sum[0]}), *second = onlyFactor({sum[1]});
  bool areCalls = first && second && first->kind == Factor::Kind::Call &&
                  first->head == second->head && first->arguments.size() == 1 &&
                  second->arguments.size() == 1;
  if (!areCalls)
    return std::nullopt;
  return std::array{first, second};
}

/// Whether a function is defined for its argument: everywhere, or as `proof`
/// says, from 0 on.
bool Checker::isInDomain(const ScalarFunction &facts, const Context &context,
                         const Sum &argument, ArrayRef<Sum> path,
                         const Shown &proof) {
  if (facts.isDefinedEverywhere())
    return true;
  bool isHalfLine = facts.where.low == 0.0 && !facts.excludesZero &&
                    facts.where.high == Span::infinity;
  return isHalfLine && isShown(facts.where.isOpen ? Need::Kind::Positive
                                                  : Need::Kind::NotNegative,
                               0, context, argument, path, proof);
}

/// f(x) - f(y) has the sign of x - y where f grows strictly.
bool Checker::sameOrder(const Step &step, const Context &inside,
                        const Factor &factor, ArrayRef<Sum> path, Sum &value) {
  bool isZero = isCall(factor, Head::Kind::Zero);
  if ((!isZero && !isCall(factor, Head::Kind::Positive)) ||
      mentionsInfinity(factor.arguments[0]))
    return fail("there is no order of reals");
  const Sum &difference = factor.arguments[0];
  auto calls = differenceOfCalls(difference);
  std::optional<UnaryFn> function =
      calls ? functionOf(*(*calls)[0]) : std::nullopt;
  if (!function || factsOf(*function).growth != Growth::Increasing)
    return fail("a function does not grow");
  const ScalarFunction &facts = factsOf(*function);
  const Sum &x = (*calls)[0]->arguments[0], &y = (*calls)[1]->arguments[0];
  Shown none;
  auto needOf = [&](size_t i) -> const Shown & {
    return i < step.need.size() ? step.need[i] : none;
  };
  if (!isInDomain(facts, inside, x, path, needOf(0)) ||
      !isInDomain(facts, inside, y, path, needOf(1)))
    return fail("a function may not be defined");
  Rational sign(difference[0].coefficient > Rational(0) ? 1 : -1);
  value = single(makeCall(factor.head,
                          {add(scaled(x, sign), scaled(y, Rational(0) - sign))},
                          true));
  return true;
}

/// y is above a maximum of points where it is above each of them; a maximum is
/// above y where not none of them is.
bool Checker::orderOfMaximum(const Step &step, const Context &inside,
                             const Factor &factor, Sum &value) {
  if (!isCall(factor, Head::Kind::Positive) ||
      step.other >= factor.arguments[0].size() ||
      mentionsInfinity(factor.arguments[0]))
    return fail("there is no order of reals");
  Sum rest = factor.arguments[0], one = constant(Rational(1));
  Term term = rest[step.other];
  rest.erase(rest.begin() + step.other);
  const Factor *maximum = onlyFactor({term});
  if (!maximum || !isReduce(*maximum, Head::Kind::Max) ||
      maximum->branches.empty())
    return fail("there is no maximum");
  bool isBelow = term.coefficient < Rational(0);
  value = one;
  for (const Branch &branch : maximum->branches) {
    if (!branch.variables.empty() ||
        !decider.holds(inside.known, Formula::all(branch.guards)))
      return fail("a value of a maximum is no point");
    Sum truth = single(
        makeCall(Head::Kind::Positive,
                 {add(rest, scaled(branch.value, term.coefficient))}, true));
    value = multiply(
        value, isBelow ? truth : add(one, scaled(truth, Rational(-1))), names);
  }
  if (!isBelow)
    value = add(one, scaled(value, Rational(-1)));
  return true;
}

/// c x is 0 where x is, for c that is not 0, and positive where x is, for
/// c > 0. Of residues c is -1.
bool Checker::scaleOrder(const Step &step, const Factor &factor, Sum &value) {
  bool isPositive = factor.head == Head::Kind::Positive,
       isZero = factor.head.getKind() == Head::Kind::Zero,
       isOfResidues = isZero && factor.head.getType();
  if (factor.kind != Factor::Kind::Call || factor.arguments.size() != 1 ||
      (!isZero && !isPositive) || mentionsInfinity(factor.arguments[0]) ||
      step.integers.size() != 2)
    return fail("there is no order");
  const Integer &over = step.integers[0], &under = step.integers[1];
  bool isNumber = over.kind() == Integer::Kind::Constant &&
                  under.kind() == Integer::Kind::Constant &&
                  over.value() != 0 && under.value() > 0;
  if (!isNumber || (isPositive && over.value() < 0) ||
      (isOfResidues && (over.value() != -1 || under.value() != 1)))
    return fail("a number changes the order");
  Rational number(over.value(), under.value());
  value = single(
      makeCall(factor.head, {scaled(factor.arguments[0], number)}, true));
  return true;
}

} // namespace mlc::kernel
