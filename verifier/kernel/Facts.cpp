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

/// The value of the step's one factor.
bool Checker::factOfOne(const Step &step, const Context &inside,
                        const Term &term, Sum &value) {
  const Factor &factor = *term.factors[step.factor];
  if (step.kind == Step::Kind::AtZero) {
    std::optional<UnaryFn> function = unaryNamed(factor.name);
    if (factor.kind != Factor::Kind::Call || factor.arguments.size() != 1 ||
        !factor.arguments[0].empty() || !function ||
        !factsOf(*function).hasZero())
      return fail("a function of 0 has no known value");
    value = constant(Rational(static_cast<int64_t>(factsOf(*function).atZero)));
    return true;
  }
  if (step.kind == Step::Kind::SplitReciprocal) {
    bool isProduct = isCall(factor, reciprocalName) &&
                     factor.arguments[0].size() == 1 &&
                     factor.arguments[0][0].variables.empty() &&
                     factor.arguments[0][0].guards.empty() &&
                     factor.arguments[0][0].coefficient != Rational(0);
    if (!isProduct)
      return fail("what is inverted is no product");
    const Term &product = factor.arguments[0][0];
    value = constant(Rational(1) / product.coefficient);
    for (const FactorRef &part : product.factors)
      value = multiply(value,
                       isCall(*part, reciprocalName)
                           ? part->arguments[0]
                           : single(makeCall(reciprocalName, {single(part)})),
                       names);
    return true;
  }
  bool isLog = step.kind == Step::Kind::LogOfExp;
  if (!isCall(factor, isLog ? "log" : "exp"))
    return fail("a function is another one");
  const Factor *inner = onlyFactor(factor.arguments[0]);
  if (!inner || factor.arguments[0][0].coefficient != Rational(1) ||
      !isCall(*inner, isLog ? "exp" : "log"))
    return fail("a function is not applied to its inverse");
  value = inner->arguments[0];
  return isLog ||
         (step.need.size() == 1 &&
          isShown(Need::Kind::Positive, 0, inside, value,
                  pathOf(term, step.factor, step.other), step.need[0]));
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
    if (!isCall(*first, "exp") || !isCall(*second, "exp"))
      return fail("a factor is no exponential");
    value = single(
        makeCall("exp", {add(first->arguments[0], second->arguments[0])}));
    return true;
  }
  if (step.kind == Step::Kind::SquareOfRoot) {
    if (!isCall(*first, "sqrt") || !same(*first, *second))
      return fail("a factor is no root");
    value = first->arguments[0];
    return step.need.size() == 1 && isShown(Need::Kind::NotNegative, 0, inside,
                                            value, path, step.need[0]);
  }
  const Factor *inverted = isCall(*second, reciprocalName)
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
                 step.kind == Step::Kind::SquareOfRoot;
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

//===----------------------------------------------------------------------===//
// Maxima
//===----------------------------------------------------------------------===//

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

bool Checker::take(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  FactorRef factor = term.factors[step.factor];
  if (factor->name != "max" || step.part >= factor->branches.size())
    return fail("a step needs a maximum");
  Context inside = opened(context, term);
  // A maximum of nothing is less than all that may be added to it.
  const Branch &point = factor->branches[step.part];
  ArrayRef<Integer> integers = step.integers;
  Integer over, under;
  if (step.kind == Step::Kind::TakeNumber) {
    if (integers.size() < 2)
      return fail("a step has no number");
    over = integers[0];
    under = integers[1];
    integers = integers.drop_front(2);
  }
  Bindings values;
  bool isWellFormed = integers.size() == point.variables.size();
  for (auto [variable, integer] : llvm::zip(point.variables, integers)) {
    Integer value = integer;
    isWellFormed = isWellFormed && fillSlots(value, inside.scope);
    values.insert({variable, value});
  }
  std::vector<Formula> guards;
  for (const Formula &guard : point.guards)
    guards.push_back(substitute(guard, values));
  if (!isWellFormed ||
      !decider.holds(inside.known, Formula::all(std::move(guards))))
    return fail("a maximum may be of nothing");
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
    value = scaled(single(makeReduce("max", std::move(branches))), number);
  } else if (step.kind == Step::Kind::TakeTerm) {
    if (!takeTerm(step, branches, taken))
      return false;
    value = add(single(makeReduce("max", std::move(branches))), taken);
  } else {
    if (!takeFactor(step, inside, branches, taken))
      return false;
    value =
        multiply(single(makeReduce("max", std::move(branches))), taken, names);
  }
  Sum product = multiply({term}, value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

} // namespace mlc::kernel
