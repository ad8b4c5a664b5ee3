//===- Steps.cpp - Steps of a proof ---------------------------------------===//
//
// Each makes a sum of equal value, or is refused.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "verifier/kernel/Unfold.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::kernel {

static Factor &writable(FactorRef &factor) {
  auto copy = std::make_shared<Factor>(*factor);
  factor = copy;
  return *copy;
}

bool Checker::apply(const Step &step, const Context &context, Sum &sum) {
  constexpr size_t largest = 200000;
  return applyInside(step, 0, context, sum) &&
         (sizeOf(sum) <= largest || fail("an element becomes too large"));
}

/// Follows the step's path into arguments and branches.
bool Checker::applyInside(const Step &step, size_t at, const Context &context,
                          Sum &sum) {
  if (at == step.path.size())
    return applyTo(step, context, sum);
  auto [t, f, p] = step.path[at];
  if (t >= sum.size() || f >= sum[t].factors.size())
    return fail("a step has no place");
  sum[t] = renamed(sum[t], names);
  Context inside = opened(context, sum[t]);
  Factor &factor = writable(sum[t].factors[f]);
  if (p < factor.arguments.size())
    return applyInside(step, at + 1, inside, factor.arguments[p]);
  if (p >= factor.branches.size())
    return fail("a step has no place");
  Branch &branch = factor.branches[p];
  branch = renamed(branch, names);
  inside.bind(branch.variables);
  inside.assume(branch.guards);
  return applyInside(step, at + 1, inside, branch.value);
}

void Checker::noteCancelled(const Step &step, const Sum &sum) {
  switch (step.kind) {
  case Step::Kind::Split:
  case Step::Kind::Count:
  case Step::Kind::Unwrap:
  case Step::Kind::DropBranch:
  case Step::Kind::DropLowest:
  case Step::Kind::Flatten:
  case Step::Kind::SplitBranch:
  case Step::Kind::TakeTerm:
  case Step::Kind::TakeNumber:
  case Step::Kind::TakeFactor:
  case Step::Kind::Rewrite:
  case Step::Kind::AtZero:
  case Step::Kind::SplitReciprocal:
  case Step::Kind::JoinNumbers:
  case Step::Kind::JoinExponentials:
  case Step::Kind::Mirror:
  case Step::Kind::Magnitude:
  case Step::Kind::AtOne:
  case Step::Kind::SquareOfMagnitude:
  case Step::Kind::TakeFunction:
  case Step::Kind::JoinReciprocals:
  case Step::Kind::OfBits:
  case Step::Kind::Commute:
  case Step::Kind::DivideByOne:
  case Step::Kind::OrderEnds:
  case Step::Kind::OfNothing:
    return;
  case Step::Kind::Merge:
    if (step.other < sum.size() &&
        sum[step.other].coefficient * sum[step.term].coefficient > Rational(0))
      return;
    break;
  default:
    break;
  }
  cancelled = true;
}

static bool isOfReductions(Step::Kind kind) {
  using enum Step::Kind;
  return llvm::is_contained({Unwrap, DropBranch, DropLowest, Flatten,
                             SplitBranch, DropLess, TakeTerm, TakeNumber,
                             TakeFactor, TakeFunction},
                            kind);
}

bool Checker::applyTo(const Step &step, const Context &context, Sum &sum) {
  if (step.term >= sum.size())
    return fail("a step has no term");
  noteCancelled(step, sum);
  Term &term = sum[step.term];
  term = renamed(term, names);
  switch (step.kind) {
  case Step::Kind::Split:
    return split(step, context, sum);
  case Step::Kind::Count:
    return count(step, context, term);
  case Step::Kind::Rewrite:
    return rewrite(step, context, term);
  case Step::Kind::Merge: {
    if (step.other >= sum.size() || step.other == step.term)
      return fail("a step has no other term");
    Term like = sum[step.other];
    like.coefficient = term.coefficient;
    if (!same(Sum{like}, Sum{term}))
      return fail("two terms are not alike");
    Rational both = sum[step.other].coefficient + term.coefficient;
    sum[step.other].coefficient = both;
    sum.erase(sum.begin() + step.term);
    llvm::erase_if(sum,
                   [](const Term &t) { return t.coefficient == Rational(0); });
    return true;
  }
  case Step::Kind::JoinNumbers: {
    Product product = productOf(term);
    term.factors = std::move(product.factors);
    term.factors.push_back(makeNumber(product.number));
    return true;
  }
  default:
    break;
  }
  if (!isOfReductions(step.kind))
    return applyFact(step, context, sum);
  if (step.factor >= term.factors.size() ||
      term.factors[step.factor]->kind != Factor::Kind::Reduce)
    return fail("a step needs a reduction");
  if (step.kind == Step::Kind::Unwrap)
    return unwrap(step, context, sum);
  if (step.kind == Step::Kind::TakeTerm ||
      step.kind == Step::Kind::TakeNumber ||
      step.kind == Step::Kind::TakeFactor ||
      step.kind == Step::Kind::TakeFunction)
    return take(step, context, sum);
  return applyToBranches(step, opened(context, term),
                         writable(term.factors[step.factor]));
}

bool Checker::split(const Step &step, const Context &context, Sum &sum) {
  Term no = sum[step.term];
  Formula formula = step.formula;
  Context inside = opened(context, no);
  if (!fillSlots(formula, inside.scope))
    return fail("a formula is not well formed");
  sum[step.term].guards.push_back(formula);
  no.guards.push_back(Formula::negation(formula));
  sum.push_back(std::move(no));
  return true;
}

bool Checker::count(const Step &step, const Context &context, Term &term) {
  if (step.part >= term.variables.size() || step.integers.size() != 2)
    return fail("a count is not well formed");
  Variable variable = term.variables[step.part];
  Integer low = step.integers[0], high = step.integers[1];
  Context all = opened(context, term), rest = context;
  rest.bind(term.variables);
  if (!fillSlots(low, all.scope) || !fillSlots(high, all.scope) ||
      mentions(low, variable) || mentions(high, variable) ||
      llvm::any_of(term.factors,
                   [&](auto &factor) { return mentions(*factor, variable); }))
    return fail("what is counted varies");
  std::vector<Formula> own;
  std::vector<Formula> others;
  for (const Formula &guard : term.guards)
    (mentions(guard, variable) ? own : others).push_back(guard);
  rest.assume(others);
  Integer x = Integer::variable(variable);
  Formula range =
      Formula::all({Formula::notNegative(x - low), Formula::less(x, high)});
  Context inRange = rest;
  inRange.assume({range});
  rest.assume(own);
  if (!decider.holds(rest.known, range) ||
      !decider.holds(inRange.known, Formula::all(own)))
    return fail("a variable has another range");
  term.variables.erase(term.variables.begin() + step.part);
  term.guards = std::move(others);
  term.factors.push_back(makeNumber(
      Integer::apply(Integer::Kind::Maximum, high - low, Integer(0))));
  return true;
}

bool Checker::rewrite(const Step &step, const Context &context, Term &term) {
  Context inside = opened(context, term);
  if (step.integers.size() != 2)
    return fail("a rewrite is not well formed");
  Integer from = step.integers[0], to = step.integers[1];
  if (!fillSlots(from, inside.scope) || !fillSlots(to, inside.scope))
    return fail("a rewrite is not well formed");
  if (to.treeSize() > largestInteger ||
      !decider.holds(inside.known, Formula::equal(from, to)))
    return fail("two integers may differ");
  for (FactorRef &factor : term.factors) {
    factor = replaceInteger(factor, from, to);
    if (largestIn(*factor) > largestInteger)
      return fail("an integer becomes too large");
  }
  return true;
}

/// Any monoid over one value is that value.
bool Checker::unwrap(const Step &step, const Context &context, Sum &sum) {
  Term term = sum[step.term];
  FactorRef factor = term.factors[step.factor];
  if (factor->branches.size() != 1)
    return fail("a reduction is not of one value");
  const Branch &branch = factor->branches[0];
  if (!factor->head.keepsOneValue())
    return fail("a reduction is of more than values");
  Context inside = opened(context, term);
  bool isOne = branch.variables.empty() ||
               (factor->head.isIdempotent() &&
                step.integers.size() == branch.variables.size());
  Bindings point;
  for (auto [variable, integer] : llvm::zip(branch.variables, step.integers)) {
    Integer there = integer;
    isOne = isOne && fillSlots(there, inside.scope) &&
            there.treeSize() <= largestInteger &&
            !mentions(branch.value, variable);
    point.insert({variable, there});
  }
  if (!isOne)
    return fail("a reduction is not of one value");
  std::vector<Formula> guards;
  for (const Formula &guard : branch.guards)
    guards.push_back(substitute(guard, point));
  if (!decider.holds(inside.known, Formula::all(std::move(guards))))
    return fail("a reduction may be of nothing");
  term.factors.erase(term.factors.begin() + step.factor);
  Sum product = multiply({term}, branch.value, names);
  sum.erase(sum.begin() + step.term);
  sum.insert(sum.begin() + step.term, product.begin(), product.end());
  return true;
}

bool mentionsInfinity(const Sum &sum) {
  return llvm::any_of(sum, [](const Term &term) {
    return llvm::any_of(term.factors, [](const FactorRef &factor) {
      return (factor->kind == Factor::Kind::Parameter &&
              factor->parameter == infinityName) ||
             llvm::any_of(factor->arguments, mentionsInfinity) ||
             llvm::any_of(factor->branches, [](const Branch &branch) {
               return mentionsInfinity(branch.value);
             });
    });
  });
}

static bool isMinusInfinity(const Sum &sum) {
  return sum.size() == 1 && sum[0].coefficient == Rational(-1) &&
         sum[0].variables.empty() && sum[0].guards.empty() &&
         sum[0].factors.size() == 1 &&
         sum[0].factors[0]->kind == Factor::Kind::Parameter &&
         sum[0].factors[0]->parameter == infinityName;
}

/// max(max(x), y) is max(x, y).
bool Checker::flatten(const Step &step, std::vector<Branch> &branches) {
  Branch branch = branches[step.part];
  bool isMaximum =
      branch.value.size() == 1 && branch.value[0].coefficient == Rational(1) &&
      branch.value[0].variables.empty() && branch.value[0].guards.empty() &&
      branch.value[0].factors.size() == 1 &&
      isReduce(*branch.value[0].factors[0], Head::Kind::Max);
  if (!isMaximum)
    return fail("a branch is no maximum");
  branches.erase(branches.begin() + step.part);
  for (const Branch &part : branch.value[0].factors[0]->branches) {
    // Both binders get new names, as one.
    Branch joined = part;
    joined.variables.insert(joined.variables.begin(), branch.variables.begin(),
                            branch.variables.end());
    llvm::append_range(joined.guards, branch.guards);
    branches.push_back(renamed(joined, names));
  }
  return true;
}

/// `inside`: the term's variables are in scope.
bool Checker::applyToBranches(const Step &step, const Context &inside,
                              Factor &factor) {
  std::vector<Branch> &branches = factor.branches;
  if (step.kind == Step::Kind::DropLowest) {
    // Infinity stands for any number that is large enough: larger than every
    // value that has none.
    llvm::erase_if(branches, [](const Branch &branch) {
      return isMinusInfinity(branch.value);
    });
    bool isFinite = llvm::none_of(branches, [](const Branch &branch) {
      return mentionsInfinity(branch.value);
    });
    return (factor.head == Head::Kind::Max && isFinite && !branches.empty()) ||
           fail("infinity is used otherwise than as a maximum of nothing");
  }
  if (step.part >= branches.size())
    return fail("a step has no branch");
  Branch branch = branches[step.part];
  switch (step.kind) {
  case Step::Kind::DropBranch: {
    std::vector<Branch> others = branches;
    others.erase(others.begin() + step.part);
    if (!factor.head.isIdempotent() && !step.covers.empty())
      return fail("a repeated value counts");
    if (!covers(inside, branch, others, step.covers))
      return false;
    branches = std::move(others);
    return true;
  }
  case Step::Kind::Flatten:
    return factor.head == Head::Kind::Max ? flatten(step, branches)
                                          : fail("a branch is no maximum");
  case Step::Kind::DropLess: {
    if (factor.head != Head::Kind::Max || step.other >= branches.size() ||
        step.other == step.part)
      return fail("a step has no branch");
    const Branch &other = branches[step.other];
    branch = renamed(branch, names);
    Context within = inside;
    within.bind(branch.variables);
    within.assume(branch.guards);
    if (!other.variables.empty() || !other.guards.empty() ||
        !isNotNegative(within,
                       add(other.value, scaled(branch.value, Rational(-1)))))
      return fail("a branch may be above another");
    branches.erase(branches.begin() + step.part);
    return true;
  }
  case Step::Kind::SplitBranch: {
    branch = renamed(branch, names);
    Context within = inside;
    within.bind(branch.variables);
    Formula formula = step.formula;
    if (!fillSlots(formula, within.scope))
      return fail("a formula is not well formed");
    Branch no = branch;
    branch.guards.push_back(formula);
    no.guards.push_back(Formula::negation(formula));
    branches[step.part] = std::move(branch);
    branches.push_back(std::move(no));
    return true;
  }
  default:
    return fail("an unknown step");
  }
}

} // namespace mlc::kernel
