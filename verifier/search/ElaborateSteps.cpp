//===- ElaborateSteps.cpp - Steps that make sums smaller ------------------===//

#include "verifier/kernel/Unfold.h"
#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

using verifier::Facts;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static bool isQuotient(const Integer &integer) {
  return integer.kind() == Integer::Kind::FloorDivide ||
         integer.kind() == Integer::Kind::Modulo;
}

/// Calls back with quotients and remainders, inner ones first.
static void walkQuotients(const Integer &integer,
                          llvm::function_ref<void(const Integer &)> callback) {
  if (integer.isLeaf())
    return;
  walkQuotients(integer.left(), callback);
  walkQuotients(integer.right(), callback);
  if (isQuotient(integer))
    callback(integer);
}

/// Applies steps that make reductions smaller; false if none applies.
bool Elaborator::simplify(const Context &context, Sum &sum,
                          std::vector<Step> &steps) {
  constexpr size_t mostSteps = 200;
  std::vector<std::array<unsigned, 3>> path;
  const size_t before = steps.size();
  while (steps.size() < before + mostSteps && !isExhausted()) {
    Sum last = sum;
    if (!simplifyTerms(context, sum, context, last, path, steps))
      break;
  }
  return steps.size() > before;
}

/// Whether any index in a sum `isWanted`.
static bool anyIndex(const Sum &sum,
                     llvm::function_ref<bool(const Integer &)> isWanted) {
  return llvm::any_of(sum, [&](const Term &term) {
    return llvm::any_of(term.factors, [&](const FactorRef &factor) {
      return llvm::any_of(factor->index, isWanted) ||
             llvm::any_of(factor->arguments,
                          [&](const Sum &argument) {
                            return anyIndex(argument, isWanted);
                          }) ||
             llvm::any_of(factor->branches, [&](const Branch &branch) {
               return anyIndex(branch.value, isWanted);
             });
    });
  });
}

/// Nested quotients come from reshapes of reshapes. Solvers are slow to compare
/// two of these and mostly fail, while each quotient alone is easy.
static bool hasQuotientOfQuotient(const Integer &integer) {
  bool found = false;
  walkQuotients(integer, [&](const Integer &outer) {
    for (const Integer &part : {outer.left(), outer.right()})
      walkQuotients(part, [&](const Integer &) { found = true; });
  });
  return found;
}

std::vector<Step> Elaborator::untangle(const Context &context, Sum &sum) {
  std::vector<Step> steps;
  if (!anyIndex(sum, hasQuotientOfQuotient))
    return steps;
  llvm::SaveAndRestore<bool> here(rewritesOnly, true);
  simplify(context, sum, steps);
  return steps;
}

/// Applies one step somewhere in `sum`, which is at `path` of `root`.
bool Elaborator::simplifyTerms(const Context &context, Sum &root,
                               const Context &here, const Sum &sum,
                               std::vector<std::array<unsigned, 3>> &path,
                               std::vector<Step> &steps) {
  for (unsigned t = 0; t < sum.size(); ++t) {
    Term term = renamed(sum[t], names);
    Context inside = here;
    inside.bind(term.variables);
    inside.assume(term.guards);
    for (unsigned f = 0; f < term.factors.size(); ++f) {
      const Factor &factor = *term.factors[f];
      for (unsigned a = 0; a < factor.arguments.size(); ++a) {
        path.push_back({t, f, a});
        if (simplifyTerms(context, root, inside, factor.arguments[a], path,
                          steps))
          return true;
        path.pop_back();
      }
      for (unsigned b = 0; b < factor.branches.size(); ++b) {
        Branch branch = renamed(factor.branches[b], names);
        Context within = inside;
        within.bind(branch.variables);
        within.assume(branch.guards);
        path.push_back({t, f, b});
        if (simplifyTerms(context, root, within, branch.value, path, steps))
          return true;
        path.pop_back();
      }
    }
    std::optional<Step> step;
    // Grouping merges equal terms of the outer sum; expanding products there
    // gives many.
    bool mergesHere = !rewritesOnly && (!path.empty() || endDepth > 1);
    for (unsigned other = 0; other < t && mergesHere; ++other) {
      Term like = sum[other];
      like.coefficient = term.coefficient;
      if (same(Sum{like}, Sum{term}))
        step = Step{.kind = Step::Kind::Merge, .other = other};
    }
    if (!step && !rewritesOnly)
      step = countFor(here, term);
    if (!step)
      step = rewriteFor(inside, term);
    if (!step && !rewritesOnly)
      step = stepFor(inside, term);
    if (!step)
      continue;
    step->term = t;
    step->path = path;
    Sum next = root;
    // A step without effect at its place does not count; the caller adds the
    // path.
    if (!checker.apply(*step, context, next))
      return false;
    path.clear();
    root = std::move(next);
    steps.push_back(std::move(*step));
    return true;
  }
  return false;
}

/// The order of rewriting: fewer quotients, or equally many smaller ones.
static std::pair<uint64_t, uint64_t> weightOf(const Integer &integer) {
  std::pair<uint64_t, uint64_t> weight;
  walkQuotients(integer, [&](const Integer &quotient) {
    ++weight.first;
    weight.second += quotient.treeSize();
  });
  return weight;
}

/// Replaces a quotient or remainder by the prover's simplification, innermost
/// first, so that each query is easy.
std::optional<Step> Elaborator::rewriteFor(const Context &inside,
                                           const Term &term) {
  Facts facts;
  for (const Guard &guard : toGuards(inside.known))
    facts.add(guard);
  std::optional<Step> step;
  for (const FactorRef &factor : term.factors)
    for (const Integer &index : factor->index)
      walkQuotients(index, [&](const Integer &quotient) {
        if (step)
          return;
        IntExpr simple = facts.simplify(toExpr(quotient));
        Integer value = fromExpr(simple);
        if (isQuotient(value) || weightOf(value) >= weightOf(quotient))
          return;
        std::optional<Integer> from = toSlots(quotient, inside.scope),
                               to = toSlots(value, inside.scope);
        if (from && to &&
            decider.holds(inside.known, Formula::equal(quotient, value)))
          step = Step{.kind = Step::Kind::Rewrite, .integers = {*from, *to}};
      });
  return step;
}

/// Counts a variable that only its range mentions.
std::optional<Step> Elaborator::countFor(const Context &here,
                                         const Term &term) {
  for (unsigned v = 0; v < term.variables.size(); ++v) {
    Variable variable = term.variables[v];
    if (llvm::any_of(term.factors, [&](const FactorRef &f) {
          return mentions(*f, variable);
        }))
      continue;
    IntExpr symbol = IntExpr::symbol(mlir, nameOf(variable));
    Guards own;
    for (const Formula &guard : term.guards)
      if (mentions(guard, variable))
        toGuards(guard, own);
    std::optional<Integer> low, high;
    for (const Guard &guard : own) {
      IntExpr above = guard.expr - symbol, below = guard.expr + symbol;
      if (guard.kind != Guard::Kind::NonNegative)
        continue;
      if (!verifier::mentions(above, symbol))
        low = fromExpr(-above);
      if (!verifier::mentions(below, symbol))
        high = fromExpr(below + 1);
    }
    if (!low || !high)
      continue;
    Context inside = opened(here, term);
    std::optional<Integer> from = toSlots(*low, inside.scope),
                           to = toSlots(*high, inside.scope);
    if (!from || !to)
      continue;
    Step step{.kind = Step::Kind::Count, .part = v, .integers = {*from, *to}};
    Sum trial{term};
    if (checker.apply(step, here, trial))
      return step;
  }
  return std::nullopt;
}

std::optional<Step> Elaborator::stepFor(const Context &inside,
                                        const Term &term) {
  unsigned numbers = 0;
  for (unsigned f = 0; f < term.factors.size(); ++f) {
    const Factor &factor = *term.factors[f];
    std::optional<Step> step;
    if (factor.kind == Factor::Kind::Call)
      step = stepForCall(inside, term, f);
    else if (factor.kind == Factor::Kind::Reduce)
      step = stepForReduce(inside, factor);
    numbers += factor.kind == Factor::Kind::Number;
    for (unsigned g = 0; g < term.factors.size() && !step; ++g)
      if (g != f)
        step = stepForPair(inside, term, f, g);
    if (step) {
      step->factor = f;
      return step;
    }
  }
  bool hasReciprocal = llvm::any_of(term.factors, [](const FactorRef &f) {
    return isCall(*f, UnaryFn::Reciprocal);
  });
  if (numbers > 1 && hasReciprocal)
    return Step{.kind = Step::Kind::JoinNumbers};
  return std::nullopt;
}

/// A point of a branch: the least value of each variable that its guards admit.
std::optional<std::vector<Integer>>
Elaborator::pointOf(const Context &inside, ArrayRef<Variable> variables,
                    ArrayRef<Formula> guards) {
  Bindings values;
  for (Variable v : variables) {
    std::vector<IntExpr> witnesses = verifier::witnessCandidates(
        IntExpr::symbol(mlir, nameOf(v)), toGuards(guards));
    values.insert({v, fromExpr(witnesses.front())});
  }
  return toSlots(variables, values, inside.scope);
}

/// Unwraps a maximum of a constant value.
std::optional<Step> Elaborator::unwrapFor(const Context &inside,
                                          const Factor &factor) {
  if (factor.branches.size() != 1 || !factor.head.isIdempotent())
    return std::nullopt;
  const Branch &branch = factor.branches[0];
  bool varies = llvm::any_of(
      branch.variables, [&](Variable v) { return mentions(branch.value, v); });
  std::optional<std::vector<Integer>> point =
      varies ? std::nullopt : pointOf(inside, branch.variables, branch.guards);
  if (!point)
    return std::nullopt;
  Step step{.kind = Step::Kind::Unwrap, .integers = *point};
  Sum trial = single(makeReduce(factor.head, factor.branches, factor.isTruth));
  return checker.apply(step, inside, trial) ? std::optional(step)
                                            : std::nullopt;
}

std::optional<Step> Elaborator::stepForReduce(const Context &inside,
                                              const Factor &factor) {
  ArrayRef<Branch> branches = factor.branches;
  if (branches.size() == 1 && branches[0].variables.empty() &&
      decider.holds(inside.known, Formula::all(branches[0].guards)))
    return Step{.kind = Step::Kind::Unwrap};
  if (auto step = unwrapFor(inside, factor))
    return step;
  auto bareFactor = [](const Sum &value) {
    return !value.empty() && value[0].coefficient == Rational(1)
               ? onlyFactor(value)
               : nullptr;
  };
  bool isMaximum = factor.head == Head::Kind::Max;
  bool hasLowest = llvm::any_of(branches, [&](const Branch &b) {
    Sum negative = scaled(b.value, Rational(-1));
    const Factor *bare = bareFactor(negative);
    return bare && bare->parameter == infinityName;
  });
  if (isMaximum && hasLowest && branches.size() > 1)
    return Step{.kind = Step::Kind::DropLowest};
  for (unsigned b = 0; isMaximum && b < branches.size(); ++b)
    if (const Factor *bare = bareFactor(branches[b].value);
        bare && isReduce(*bare, Head::Kind::Max))
      return Step{.kind = Step::Kind::Flatten, .part = b};
  if (Step step{.kind = Step::Kind::OfNothing};
      branches.empty() && worksOn(step, inside, factor))
    return step;
  for (unsigned b = 0; b < branches.size(); ++b) {
    std::vector<Branch> others = branches.vec();
    others.erase(others.begin() + b);
    if (!factor.head.isIdempotent())
      others.clear();
    if (auto covers = cover(inside, branches[b], others))
      return Step{.kind = Step::Kind::DropBranch, .part = b, .covers = *covers};
  }
  return isMaximum ? stepForMaximum(inside, factor) : std::nullopt;
}

/// The greatest common divisor of all coefficients.
static Rational contentOf(ArrayRef<Branch> branches) {
  llvm::DynamicAPInt num(0), den(1);
  for (const Branch &branch : branches)
    for (const Term &term : branch.value) {
      num = gcd(num, abs(term.coefficient.num));
      den = lcm(den, term.coefficient.den);
    }
  return num == llvm::DynamicAPInt(0) ? Rational(1) : Rational(num, den);
}

/// Takes an increasing function out of a maximum, using branch `other`.
std::optional<Step> Elaborator::takeFunctionFor(const Context &inside,
                                                const Factor &factor,
                                                unsigned other) {
  const Factor *call = onlyFactor(factor.branches[other].value);
  std::optional<UnaryFn> function = call ? functionOf(*call) : std::nullopt;
  if (!function || !factsOf(*function).isMonotone())
    return std::nullopt;
  Step step{.kind = Step::Kind::TakeFunction, .other = other};
  if (factsOf(*function).isDefinedEverywhere())
    return step;
  for (const Branch &original : factor.branches) {
    Branch branch = renamed(original, names);
    Context within = inside;
    within.bind(branch.variables);
    within.assume(branch.guards);
    const Factor *one = onlyFactor(branch.value);
    bool isAlike = one && isCall(*one, *function);
    auto shown = show(factsOf(*function).where.isOpen ? Need::Kind::Positive
                                                      : Need::Kind::NotNegative,
                      0, within, isAlike ? one->arguments[0] : Sum(), {});
    if (!shown)
      return std::nullopt;
    step.need.push_back(std::move(*shown));
  }
  return step;
}

/// Takes factors and terms that all branches share out of a maximum.
std::optional<Step> Elaborator::stepForMaximum(const Context &inside,
                                               const Factor &factor) {
  ArrayRef<Branch> branches = factor.branches;
  Sum trial = single(makeReduce(factor.head, branches.vec()));
  auto works = [&](const Step &step) {
    Sum copy = trial;
    return checker.apply(step, inside, copy);
  };
  for (unsigned b = 0; b < branches.size(); ++b)
    for (unsigned other = 0; other < branches.size(); ++other) {
      Step step{.kind = Step::Kind::DropLess, .part = b, .other = other};
      if (other != b && works(step))
        return step;
    }
  // Find some point, so that the maximum is not empty.
  for (unsigned b = 0; b < branches.size(); ++b) {
    std::optional<std::vector<Integer>> point =
        pointOf(inside, branches[b].variables, branches[b].guards);
    if (!point)
      continue;
    const Sum &first = branches[0].value;
    for (unsigned k = 0; k < first.size(); ++k) {
      Step step{.kind = Step::Kind::TakeTerm,
                .part = b,
                .other = k,
                .integers = *point};
      if (works(step))
        return step;
    }
    Rational content = contentOf(branches);
    llvm::DynamicAPInt most(std::numeric_limits<int32_t>::max());
    if (content != Rational(1) && content.num < most && content.den < most) {
      std::vector<Integer> integers{Integer(static_cast<int64_t>(content.num)),
                                    Integer(static_cast<int64_t>(content.den))};
      llvm::append_range(integers, *point);
      Step step{
          .kind = Step::Kind::TakeNumber, .part = b, .integers = integers};
      if (works(step))
        return step;
    }
    for (unsigned other = 0; other < branches.size(); ++other)
      if (auto step = takeFunctionFor(inside, factor, other)) {
        step->part = b;
        step->integers = *point;
        if (works(*step))
          return step;
      }
    for (unsigned k = 0; !first.empty() && k < first[0].factors.size(); ++k) {
      Step step{.kind = Step::Kind::TakeFactor,
                .part = b,
                .other = k,
                .integers = *point};
      if (works(step))
        return step;
    }
  }
  return std::nullopt;
}

} // namespace mlc::elaborate
