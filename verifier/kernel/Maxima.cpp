//===- Maxima.cpp - Facts of maxima and minima ----------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

/// max(x, y, ...) is max(y, ...) where x < y, else max(x, ...).
bool Checker::choose(const Step &step, const Context &inside,
                     const Factor &factor, Sum &value) {
  bool isMaximum = factor.head.getKind() == Head::Kind::Max,
       isMinimum = factor.head.getKind() == Head::Kind::Min;
  // Of reals, a minimum is the maximum of the negatives.
  mlir::Type type = factor.head.getType();
  bool isOfReals = isMaximum && !type;
  ArrayRef<Branch> branches = factor.branches;
  auto isPoint = [&](unsigned b) {
    return b < branches.size() && branches[b].variables.empty() &&
           !mentionsInfinity(branches[b].value) &&
           decider.holds(inside.known, Formula::all(branches[b].guards));
  };
  bool isWellFormed =
      factor.kind == Factor::Kind::Reduce && (isMinimum || isMaximum) &&
      (isOfReals || (type && widthOf(type) > 0)) && step.part != step.other &&
      isPoint(step.part) && isPoint(step.other);
  if (!isWellFormed)
    return fail("there is no order of two values");
  const Sum &x = branches[isMinimum ? step.other : step.part].value,
            &y = branches[isMinimum ? step.part : step.other].value;
  Sum order = isOfReals
                  ? single(makeCall(Head::Kind::Positive,
                                    {add(y, scaled(x, Rational(-1)))}, true))
                  : single(makeCall({Head::Kind::Less, type}, {x, y}, true));
  auto without = [&](unsigned b) {
    std::vector<Branch> rest = branches.vec();
    rest.erase(rest.begin() + b);
    return rest.size() == 1 ? rest[0].value
                            : single(makeReduce(factor.head, std::move(rest)));
  };
  Sum reversed = add(constant(Rational(1)), scaled(order, Rational(-1)));
  value = add(multiply(order, without(step.part), names),
              multiply(reversed, without(step.other), names));
  return true;
}

static bool varies(const Sum &sum, ArrayRef<Variable> variables) {
  return llvm::any_of(
      variables, [&](Variable variable) { return mentions(sum, variable); });
}

/// Takes a term that all branches have; it is `taken`.
bool Checker::takeTerm(const Step &step, std::vector<Branch> &branches,
                       Sum &taken) {
  if (branches.empty() || step.other >= branches[0].value.size())
    return fail("a step has no term");
  taken = {branches[0].value[step.other]};
  for (Branch &branch : branches) {
    auto it = llvm::find_if(
        branch.value, [&](const Term &term) { return same(Sum{term}, taken); });
    if (it == branch.value.end() || varies({*it}, branch.variables))
      return fail("a branch has no such term");
    branch.value.erase(it);
  }
  return true;
}

/// Takes a factor, not negative, that all terms of all branches have.
bool Checker::takeFactor(const Step &step, const Context &inside,
                         std::vector<Branch> &branches, Sum &taken) {
  if (branches.empty() || branches[0].value.empty() ||
      step.other >= branches[0].value[0].factors.size())
    return fail("a step has no factor");
  taken = single(branches[0].value[0].factors[step.other]);
  for (Branch &branch : branches)
    for (Term &term : branch.value) {
      auto it = llvm::find_if(term.factors, [&](const FactorRef &factor) {
        return same(*factor, *taken[0].factors[0]);
      });
      if (it == term.factors.end() || varies(taken, branch.variables) ||
          varies(taken, term.variables))
        return fail("a term has no such factor");
      term.factors.erase(it);
    }
  return isNotNegative(inside, taken) || fail("a factor may be negative");
}

/// Whether a branch has a value at this point.
bool Checker::isOfSome(const Context &inside, const Branch &branch,
                       ArrayRef<Integer> point) {
  Bindings values;
  bool isWellFormed = point.size() == branch.variables.size();
  for (auto [variable, integer] : llvm::zip(branch.variables, point)) {
    Integer value = integer;
    isWellFormed = isWellFormed && fillSlots(value, inside.scope) &&
                   value.treeSize() <= largestInteger;
    values.insert({variable, value});
  }
  std::vector<Formula> guards;
  for (const Formula &guard : branch.guards)
    guards.push_back(substitute(guard, values));
  return (isWellFormed &&
          decider.holds(inside.known, Formula::all(std::move(guards)))) ||
         fail("a maximum may be of nothing");
}

/// The argument of a branch c f(x), and of the number c f(0); nothing for
/// others.
static std::optional<Sum> argumentOf(const Branch &branch, UnaryFn function,
                                     const Rational &coefficient) {
  const ScalarFunction &facts = factsOf(function);
  if (std::optional<Rational> number = asConstant(branch.value)) {
    bool isZero =
        facts.hasZero() &&
        *number == coefficient * Rational(static_cast<int64_t>(facts.atZero));
    return isZero ? std::optional(Sum()) : std::nullopt;
  }
  const Factor *call = onlyFactor(branch.value);
  bool isOfFunction = call && isCall(*call, function) &&
                      branch.value[0].coefficient == coefficient;
  return isOfFunction ? std::optional(call->arguments[0]) : std::nullopt;
}

/// Takes a function that grows, and is defined for all that it is applied to.
bool Checker::takeFunction(const Step &step, const Context &inside,
                           const std::vector<Branch> &branches, Sum &value) {
  if (step.other >= branches.size())
    return fail("a step has no branch");
  const Sum &first = branches[step.other].value;
  const Factor *call = onlyFactor(first);
  std::optional<UnaryFn> function = call ? functionOf(*call) : std::nullopt;
  if (!function || !factsOf(*function).isMonotone())
    return fail("a function does not grow");
  const ScalarFunction &facts = factsOf(*function);
  const Rational coefficient = first[0].coefficient;
  Rational sign(coefficient > Rational(0) ? 1 : -1);
  std::vector<Branch> arguments;
  for (auto [b, original] : llvm::enumerate(branches)) {
    Branch branch = renamed(original, names);
    std::optional<Sum> argument = argumentOf(branch, *function, coefficient);
    if (!argument || mentionsInfinity(*argument))
      return fail("a branch is not of the function");
    Context within = inside;
    within.bind(branch.variables);
    within.assume(branch.guards);
    Shown none;
    if (!isInDomain(facts, within, *argument, {},
                    b < step.need.size() ? step.need[b] : none))
      return fail("a function may not be defined");
    branch.value = scaled(std::move(*argument), sign);
    arguments.push_back(std::move(branch));
  }
  Sum largest =
      scaled(single(makeReduce(Head::Kind::Max, std::move(arguments))), sign);
  value =
      scaled(single(makeCall(*function, {std::move(largest)})), coefficient);
  return true;
}

bool Checker::take(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  FactorRef factor = term.factors[step.factor];
  if (!isReduce(*factor, Head::Kind::Max) ||
      step.part >= factor->branches.size())
    return fail("a step needs a maximum");
  Context inside = opened(context, term);
  ArrayRef<Integer> integers = step.integers;
  Integer over, under;
  if (step.kind == Step::Kind::TakeNumber) {
    if (integers.size() < 2)
      return fail("a step has no number");
    over = integers[0];
    under = integers[1];
    integers = integers.drop_front(2);
  }
  // A maximum of nothing is less than all that may be added to it.
  if (!isOfSome(inside, factor->branches[step.part], integers))
    return false;
  std::vector<Branch> branches = factor->branches;
  term.factors.erase(term.factors.begin() + step.factor);
  Sum value, taken;
  if (step.kind == Step::Kind::TakeNumber) {
    bool isPositive = over.kind() == Integer::Kind::Constant &&
                      under.kind() == Integer::Kind::Constant &&
                      over.value() > 0 && under.value() > 0;
    if (!isPositive)
      return fail("a number is not positive");
    Rational number(over.value(), under.value());
    for (Branch &branch : branches)
      branch.value = scaled(branch.value, Rational(1) / number);
    value = scaled(single(makeReduce(Head::Kind::Max, std::move(branches))),
                   number);
  } else if (step.kind == Step::Kind::TakeFunction) {
    if (!takeFunction(step, inside, branches, value))
      return false;
  } else if (step.kind == Step::Kind::TakeTerm) {
    if (!takeTerm(step, branches, taken))
      return false;
    value =
        add(single(makeReduce(Head::Kind::Max, std::move(branches))), taken);
  } else {
    if (!takeFactor(step, inside, branches, taken))
      return false;
    value = multiply(single(makeReduce(Head::Kind::Max, std::move(branches))),
                     taken, names);
  }
  Sum product = multiply({term}, value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

} // namespace mlc::kernel
