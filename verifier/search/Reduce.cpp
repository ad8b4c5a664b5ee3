//===- Reduce.cpp - Monoids other than sums in normal form ----------------===//
//
// Order lemmas: a maximum is idempotent, monotone and positively homogeneous;
// adding a number commutes with it.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Integers.h"
#include "verifier/search/Normalize.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

/// Whether the branch adds nothing to a maximum: -inf.
static bool isLowest(const Sum &value) {
  if (value.terms.size() != 1)
    return false;
  const Term &term = value.terms.front();
  return term.coefficient < Fraction(0) && term.factors.size() == 1 &&
         term.factors[0].power == 1 &&
         term.factors[0].atom->kind == Atom::Kind::Real &&
         term.factors[0].atom->name == infinity;
}

static bool mentionsAny(const Sum &sum, ArrayRef<IntExpr> variables) {
  return llvm::any_of(variables, [&](IntExpr v) { return mentions(sum, v); });
}

/// Simplifies the branch's domain; false when it is empty. Counting does not
/// matter to idempotent monoids, so an unused variable leaves only the
/// condition that it exists.
bool Normalizer::addBranch(std::vector<Branch> &branches, Branch branch,
                           const Head &monoid, const Facts &facts) {
  Term term{Fraction(1),
            branch.domain,
            {{makeUninterpreted("@value", {branch.value}), 1}}};
  Facts inner;
  std::vector<IntExpr> counts;
  for (unsigned round = 0; round < 16 && budget.check(); ++round) {
    if (!simplifyDomain(term, facts, inner, counts))
      return false;
    if (!eliminateVariable(term, inner) && !splitDigits(term, inner))
      break;
  }
  Sum value = simplify(term.factors[0].atom->arguments[0], inner);
  mapCases(value, inner, [&](const Sum &x, const Facts &known) {
    Branch part{term.domain, x};
    for (const Guard &guard :
         known.getGuards().drop_front(inner.getGuards().size()))
      part.domain.guards.push_back(guard);
    if (monoid.is(Head::Kind::Max) && isLowest(x))
      return Sum();
    // In this case the value may be constant. The domain itself must not be
    // used to show that it has a point.
    Facts outside = facts;
    for (const Guard &guard : part.domain.guards)
      if (llvm::none_of(part.domain.variables,
                        [&](IntExpr v) { return mentions(guard, v); }))
        outside.add(guard);
    bool isOnePoint = monoid.isIdempotent() &&
                      !mentionsAny(x, part.domain.variables) &&
                      isNeverEmpty(part.domain, outside);
    if (isOnePoint) {
      llvm::erase_if(part.domain.guards, [&](const Guard &guard) {
        return llvm::any_of(part.domain.variables,
                            [&](IntExpr v) { return mentions(guard, v); });
      });
      part.domain.variables.clear();
    }
    branches.push_back(std::move(part));
    return Sum();
  });
  return true;
}

/// A maximum inside a maximum: merges its branches, each with the added terms.
static bool flattenMax(std::vector<Branch> &branches, Normalizer &n) {
  for (size_t i = 0; i < branches.size(); ++i) {
    const Sum &value = branches[i].value;
    for (size_t t = 0; t < value.terms.size(); ++t) {
      const Term &term = value.terms[t];
      if (term.coefficient < Fraction(0) || term.factors.size() != 1 ||
          term.factors[0].power != 1 || !term.domain.variables.empty() ||
          !term.domain.guards.empty() ||
          term.factors[0].atom->kind != Atom::Kind::Reduce ||
          !term.factors[0].atom->head.is(Head::Kind::Max))
        continue;
      Branch outer = branches[i];
      outer.value.terms.erase(outer.value.terms.begin() + t);
      Fraction scale = term.coefficient;
      AtomRef inner = term.factors[0].atom;
      branches.erase(branches.begin() + i);
      for (const Branch &b : inner->branches) {
        Branch moved = n.freshened(b);
        Branch joined{outer.domain,
                      add(scaled(moved.value, scale), outer.value)};
        llvm::append_range(joined.domain.variables, moved.domain.variables);
        llvm::append_range(joined.domain.guards, moved.domain.guards);
        branches.push_back(std::move(joined));
      }
      return true;
    }
  }
  return false;
}

static bool sameBranch(const Branch &a, const Branch &b) {
  auto wrap = [](const Branch &x) {
    return Sum{{Term{
        Fraction(1), x.domain, {{makeUninterpreted("@value", {x.value}), 1}}}}};
  };
  return sameSum(wrap(a), wrap(b));
}

static void dropDuplicates(std::vector<Branch> &branches) {
  for (size_t i = 0; i < branches.size(); ++i)
    for (size_t j = branches.size(); --j > i;)
      if (sameBranch(branches[i], branches[j]))
        branches.erase(branches.begin() + j);
}

/// Terms that all branches share and that do not vary move out of the maximum.
static Sum takeCommonTerms(std::vector<Branch> &branches) {
  Sum common;
  std::vector<Term> candidates = branches.front().value.terms;
  for (const Term &candidate : candidates) {
    bool isShared = llvm::all_of(branches, [&](const Branch &b) {
      return !mentionsAny(Sum{{candidate}}, b.domain.variables) &&
             llvm::any_of(b.value.terms, [&](const Term &t) {
               return sameSum(Sum{{t}}, Sum{{candidate}});
             });
    });
    if (!isShared)
      continue;
    common.terms.push_back(candidate);
    for (Branch &b : branches)
      b.value = add(b.value, negated(Sum{{candidate}}));
  }
  return common;
}

/// The argument x if `value` is f(x) for the increasing `function`; nullopt
/// otherwise.
static std::optional<Sum> argumentOf(const Sum &value, UnaryFn function) {
  bool isOdd = factsOf(function).parity == Parity::Odd;
  if (isOdd && value.isZero())
    return value;
  const Factor *factor = asSingleFactor(value);
  bool isCall = factor && factor->power == 1 &&
                factor->atom->kind == Atom::Kind::Call &&
                factor->atom->head.is(function);
  if (isCall)
    return factor->atom->arguments[0];
  // f(-x) = -f(x) is written with the sign outside.
  Sum mirrored = negated(value);
  factor = isOdd ? asSingleFactor(mirrored) : nullptr;
  isCall = factor && factor->power == 1 &&
           factor->atom->kind == Atom::Kind::Call &&
           factor->atom->head.is(function);
  return isCall ? std::optional(negated(factor->atom->arguments[0]))
                : std::nullopt;
}

/// max f(x) = f(max x) for increasing f, if the maximum is not empty.
std::optional<Sum> Normalizer::takeMonotone(ArrayRef<Branch> branches,
                                            const Facts &facts) {
  bool isOfSomething = llvm::any_of(
      branches, [&](const Branch &b) { return isNeverEmpty(b.domain, facts); });
  bool isAllZero =
      llvm::all_of(branches, [](const Branch &b) { return b.value.isZero(); });
  if (!isOfSomething || isAllZero)
    return std::nullopt;
  for (unsigned i = 0; i < scalarFunctions().size(); ++i) {
    auto function = static_cast<UnaryFn>(i);
    const ScalarFunction &f = factsOf(function);
    if (f.growth != Growth::Increasing || !f.isDefinedEverywhere())
      continue;
    std::vector<Branch> inner;
    for (const Branch &b : branches)
      if (std::optional<Sum> x = argumentOf(b.value, function))
        inner.push_back({b.domain, *x});
    if (inner.size() == branches.size())
      return apply(function, {reduceMax(std::move(inner), facts)}, facts);
  }
  return std::nullopt;
}

static bool isPlain(const Branch &branch) {
  return branch.domain.variables.empty() && branch.domain.guards.empty();
}

/// Drops parts of a maximum that never exceed another part. Does not apply to
/// floats: an exponential may round to less than its bound.
void Normalizer::dropDominated(std::vector<Branch> &branches,
                               const Facts &facts) {
  constexpr size_t mostBranches = 6;
  if (branches.size() > mostBranches)
    return;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (!isPlain(branches[i]) || branches[i].value.isZero())
      continue;
    for (size_t k = branches.size(); k-- > 0;) {
      if (k == i)
        continue;
      Sum gap = add(branches[i].value, negated(branches[k].value));
      Bounds bounds = boundsOf(gap, facts.with(branches[k].domain.guards));
      if (!bounds.low || *bounds.low < Fraction(0))
        continue;
      branches.erase(branches.begin() + k);
      i -= k < i;
    }
  }
}

Sum Normalizer::reduceMax(std::vector<Branch> branches, const Facts &facts) {
  // 0 is redundant next to a part that is never negative.
  bool hasNonNegative = llvm::any_of(branches, [&](const Branch &b) {
    return !b.value.isZero() && isNeverEmpty(b.domain, facts) &&
           isNonNegative(b.value, facts.with(b.domain.guards));
  });
  llvm::erase_if(branches, [&](const Branch &b) {
    if (!isPlain(b))
      return b.value.isZero() && hasNonNegative;
    return hasNonNegative && isNonNegative(negated(b.value), facts);
  });
  bool hasZero = llvm::any_of(branches, [&](const Branch &b) {
    return isPlain(b) && b.value.isZero();
  });
  if (hasZero)
    llvm::erase_if(branches, [&](const Branch &b) {
      return !b.value.isZero() &&
             isNonNegative(negated(b.value), facts.with(b.domain.guards));
    });
  dropDominated(branches, facts);
  if (branches.empty())
    return negated(atomSum(makeReal(infinity)));
  if (branches.size() == 1 && isPlain(branches.front()))
    return branches.front().value;

  if (std::optional<Sum> outside = takeMonotone(branches, facts))
    return *outside;
  Sum common = takeCommonTerms(branches);
  // Positive factors: rational content, then factors that all terms share. One
  // that may be 0 also moves out, unless the maximum may be empty.
  bool isOfSomething = llvm::any_of(
      branches, [&](const Branch &b) { return isNeverEmpty(b.domain, facts); });
  Sum all;
  for (const Branch &b : branches)
    llvm::append_range(all.terms, b.value.terms);
  Sum scale = constantSum(contentOf(all));
  for (Branch &b : branches)
    b.value = scaled(b.value, Fraction(1) / contentOf(all));
  std::vector<Factor> candidates;
  if (!all.terms.empty())
    candidates = all.terms.front().factors;
  for (const Factor &factor : candidates) {
    Sum inverse = atomSum(factor.atom, -factor.power);
    bool isShared =
        factor.atom->kind != Atom::Kind::Reduce &&
        (isPositive(atomSum(factor.atom), facts) ||
         (isOfSomething && factor.power > 0 &&
          isNonNegative(atomSum(factor.atom), facts))) &&
        llvm::all_of(branches, [&](const Branch &b) {
          return !mentionsAny(inverse, b.domain.variables) &&
                 llvm::all_of(b.value.terms, [&](const Term &t) {
                   return llvm::any_of(t.factors, [&](const Factor &f) {
                     return f.power == factor.power &&
                            sameAtom(*f.atom, *factor.atom);
                   });
                 });
        });
    if (!isShared)
      continue;
    for (Branch &b : branches)
      b.value = multiply(b.value, inverse);
    scale = multiply(scale, atomSum(factor.atom, factor.power));
  }
  Atom atom(Atom::Kind::Reduce);
  atom.head = Head::Kind::Max;
  atom.branches = std::move(branches);
  return add(multiply(scale, atomSum(std::make_shared<const Atom>(atom))),
             common);
}

Sum Normalizer::reduce(const Head &monoid, std::vector<Branch> branches,
                       const Facts &facts) {
  std::vector<Branch> parts;
  for (const Branch &branch : branches)
    addBranch(parts, branch, monoid, facts);
  if (!budget.check(parts.size()))
    return {};
  // Guards over free indices decide cases of the whole reduction.
  for (const Branch &part : parts)
    for (const Guard &guard : part.domain.guards) {
      if (llvm::any_of(part.domain.variables,
                       [&](IntExpr v) { return mentions(guard, v); }))
        continue;
      Guard otherwise = guard.negated();
      return add(
          guarded(reduce(monoid, branches, facts.with({guard})), {guard}),
          guarded(reduce(monoid, branches, facts.with({otherwise})),
                  {otherwise}));
    }
  if (monoid.is(Head::Kind::Max)) {
    while (flattenMax(parts, *this)) {
      std::vector<Branch> again;
      for (const Branch &branch : parts)
        addBranch(again, branch, monoid, facts);
      parts = std::move(again);
      if (!budget.check(parts.size()))
        return {};
    }
  }
  if (monoid.isIdempotent())
    dropDuplicates(parts);
  if (monoid.is(Head::Kind::Max))
    return reduceMax(std::move(parts), facts);
  if (parts.size() == 1 && parts[0].domain.variables.empty() &&
      parts[0].domain.guards.empty())
    return parts[0].value;
  Atom atom(Atom::Kind::Reduce);
  atom.head = monoid;
  atom.branches = std::move(parts);
  return atomSum(std::make_shared<const Atom>(std::move(atom)));
}

} // namespace mlc::verifier
