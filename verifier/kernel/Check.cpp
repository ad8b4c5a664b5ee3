//===- Check.cpp - The proof checker --------------------------------------===//
//
// Terms cancel when each is mapped into the space of one of them, the
// reference: term i, with domain D_i over variables v, by sigma_i (v in terms
// of the reference's r) and tau_i (r in terms of v), where for all integers v
// and r
//
//   D_i(v)  =>  sigma_i(tau_i(v)) = v
//   P_i(r) := D_i(sigma_i(r)) and tau_i(sigma_i(r)) = r
//   P_i(r)  =>  the factors of i at sigma_i(r) are the reference's at r
//   sum of weight_i(r) * [P_i(r)] = 0
//
// By the first two, sigma_i is a bijection of { r : P_i(r) } with { v : D_i(v)
// }: v in D_i is sigma_i(r) of r = tau_i(v), for which P_i(r) holds; r with
// P_i(r) is tau_i of sigma_i(r), which lies in D_i. So the terms together are
// the sum over all r of the reference's factors, times what the last line says
// is 0. Domains are finite, so all of this is finite.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;

namespace mlc::kernel {

bool Checker::fail(const char *reason) {
  if (failure.empty())
    failure = reason;
  return false;
}

Context opened(const Context &context, const Term &term) {
  Context inside = context;
  inside.bind(term.variables);
  inside.assume(term.guards);
  return inside;
}

std::vector<Sum> pathOf(const Term &term, unsigned first, unsigned second) {
  std::vector<Sum> path;
  for (auto [i, factor] : llvm::enumerate(term.factors))
    if (factor->isTruth && i != first && i != second)
      path.push_back(single(factor));
  return path;
}

Product productOf(const Term &term) {
  Product product;
  for (const FactorRef &factor : term.factors)
    if (factor->kind == Factor::Kind::Number)
      product.number = product.number * factor->index[0];
    else
      product.factors.push_back(factor);
  return product;
}

Sum branchesAsTerms(const Factor &reduction) {
  Sum result;
  for (const Branch &branch : reduction.branches)
    result.push_back({Rational(1),
                      branch.variables,
                      branch.guards,
                      {makeCall(Head::Kind::Joined, {branch.value})}});
  return result;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool Checker::isZero(const Context &context, const Sum &original,
                     unsigned width, const Zero &proof) {
  constexpr unsigned maxDepth = 64;
  if (depth >= maxDepth)
    return fail("the proof is too deep");
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  if (proof.formula) {
    Formula formula = *proof.formula;
    if (proof.cases.size() != 2 || !fillSlots(formula, context.scope))
      return fail("a distinction of cases is not well formed");
    Context yes = context, no = context;
    yes.assume({formula});
    no.assume({Formula::negation(formula)});
    return isZero(yes, original, width, proof.cases[0]) &&
           isZero(no, original, width, proof.cases[1]);
  }
  Sum sum = original;
  for (const Step &step : proof.steps)
    if (!apply(step, context, sum))
      return false;
  // A distinction leaves each term where it is.
  cancelled |=
      proof.kind != Zero::Kind::Groups && proof.kind != Zero::Kind::Truth &&
      proof.kind != Zero::Kind::Note && proof.kind != Zero::Kind::Absurd;
  if (proof.kind != Zero::Kind::Groups)
    return ends(context, sum, width, proof);
  std::vector<bool> isCovered(sum.size());
  auto take = [&](unsigned term) {
    bool isNew = term < sum.size() && !isCovered[term];
    if (isNew)
      isCovered[term] = true;
    return isNew;
  };
  for (const Group &group : proof.groups) {
    bool isWellFormed = take(group.reference);
    for (const Member &member : group.members)
      isWellFormed = isWellFormed && take(member.term);
    if (!isWellFormed)
      return fail("a group has a term that is none, or another group's");
    if (!cancels(context, sum, width, group))
      return false;
  }
  return llvm::all_of(isCovered, [](bool covered) { return covered; }) ||
         fail("a term is in no group");
}

bool Checker::cancels(const Context &context, const Sum &sum, unsigned width,
                      const Group &group) {
  Term reference = renamed(sum[group.reference], names);
  Context inside = context;
  inside.bind(reference.variables);
  llvm::DynamicAPInt common = reference.coefficient.den;
  for (const Member &member : group.members)
    common = lcm(common, sum[member.term].coefficient.den);
  if (width > 0 && common != llvm::DynamicAPInt(1))
    return fail("a residue has a fraction for coefficient");
  auto scale = [&](const Rational &coefficient, const Integer &number,
                   Integer &weight) {
    llvm::DynamicAPInt whole = coefficient.num * (common / coefficient.den);
    llvm::DynamicAPInt most(std::numeric_limits<int64_t>::max());
    if (whole > most || -whole > most)
      return fail("a coefficient is too large");
    weight = Integer(static_cast<int64_t>(whole)) * number;
    return true;
  };
  std::vector<Weighted> weights(1);
  weights[0].formula = Formula::all(reference.guards);
  if (!scale(reference.coefficient, productOf(reference).number,
             weights[0].weight))
    return false;
  for (const Member &member : group.members) {
    Weighted one;
    Integer number;
    if (!isMember(inside, sum[member.term], reference, member, one.formula,
                  number) ||
        !scale(sum[member.term].coefficient, number, one.weight))
      return false;
    weights.push_back(std::move(one));
  }
  noteCancelled(sum, group);
  return decider.isZeroSum(inside.known, weights, width) ||
         fail("terms do not cancel");
}

/// Terms of one side that are each other's negatives.
void Checker::noteCancelled(const Sum &sum, const Group &group) {
  Rational zero(0);
  bool isBelow[2] = {}, isAbove[2] = {};
  auto note = [&](const Term &term) {
    isBelow[term.isAfter] |= term.coefficient < zero;
    isAbove[term.isAfter] |= term.coefficient > zero;
  };
  note(sum[group.reference]);
  for (const Member &member : group.members)
    note(sum[member.term]);
  cancelled |= (isBelow[0] && isAbove[0]) || (isBelow[1] && isAbove[1]);
}

/// `context` has the reference's variables in scope, last.
bool Checker::isMember(const Context &context, const Term &original,
                       const Term &reference, const Member &member,
                       Formula &where, Integer &number) {
  Term term = renamed(original, names);
  size_t outer = context.scope.size() - reference.variables.size();
  std::vector<Integer> sigma = member.sigma, tau = member.tau;
  Context own{{context.scope.begin(), context.scope.begin() + outer},
              context.known};
  own.bind(term.variables);
  own.assume(term.guards);
  bool isWellFormed = sigma.size() == term.variables.size() &&
                      tau.size() == reference.variables.size();
  for (Integer &integer : sigma)
    isWellFormed = isWellFormed && fillSlots(integer, context.scope);
  for (Integer &integer : tau)
    isWellFormed = isWellFormed && fillSlots(integer, own.scope);
  if (!isWellFormed)
    return fail("a map between terms is not well formed");
  auto isLarge = [](const Integer &integer) {
    return integer.treeSize() > largestInteger;
  };
  if (llvm::any_of(sigma, isLarge) || llvm::any_of(tau, isLarge))
    return fail("an integer is too large");
  Bindings toTerm, toReference;
  for (auto [variable, integer] : llvm::zip(term.variables, sigma))
    toTerm.insert({variable, integer});
  for (auto [variable, integer] : llvm::zip(reference.variables, tau))
    toReference.insert({variable, integer});
  std::vector<Formula> returns, image;
  for (auto [variable, integer] : llvm::zip(term.variables, sigma))
    returns.push_back(Formula::equal(substitute(integer, toReference),
                                     Integer::variable(variable)));
  if (!decider.holds(own.known, Formula::all(std::move(returns))))
    return fail("a map between terms is no bijection");
  for (const Formula &guard : term.guards)
    image.push_back(substitute(guard, toTerm));
  for (auto [variable, integer] : llvm::zip(reference.variables, tau))
    image.push_back(Formula::equal(substitute(integer, toTerm),
                                   Integer::variable(variable)));
  where = Formula::all(image);
  if (largestIn(where) > 8 * largestInteger)
    return fail("an integer becomes too large");
  Product product = productOf(term), partners = productOf(reference);
  number = substitute(product.number, toTerm);
  if (product.factors.size() != partners.factors.size() ||
      member.factors.size() != partners.factors.size())
    return fail("terms of a group have different factors");
  Context inside = context;
  inside.assume(image);
  std::vector<bool> isUsed(partners.factors.size());
  for (auto [factor, match] : llvm::zip(product.factors, member.factors)) {
    if (match.partner >= isUsed.size() || isUsed[match.partner])
      return fail("a factor is paired twice");
    isUsed[match.partner] = true;
    if (!matches(inside, *substitute(factor, toTerm, names),
                 *partners.factors[match.partner], match))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

bool Checker::matches(const Context &context, const Factor &factor,
                      const Factor &partner, const Match &match) {
  if (same(factor, partner))
    return true;
  bool isAlike = factor.kind == partner.kind && factor.input == partner.input &&
                 factor.parameter == partner.parameter &&
                 factor.head == partner.head &&
                 factor.index.size() == partner.index.size() &&
                 factor.arguments.size() == partner.arguments.size();
  if (!isAlike)
    return fail("factors of different kinds are paired");
  std::vector<Formula> equal;
  for (auto [x, y] : llvm::zip(factor.index, partner.index))
    if (!(x == y))
      equal.push_back(Formula::equal(x, y));
  if (!decider.holds(context.known, Formula::all(std::move(equal))))
    return fail("indices differ");
  auto differ = [&](const Sum &x, const Sum &y, const ZeroRef &proof) {
    return !proof || !isZero(context, difference(x, y), 0, *proof);
  };
  if (factor.kind != Factor::Kind::Reduce) {
    if (match.arguments.size() != factor.arguments.size())
      return fail("an argument has no proof");
    for (auto [x, y, proof] :
         llvm::zip(factor.arguments, partner.arguments, match.arguments))
      if (differ(x, y, proof))
        return false;
    return true;
  }
  if (!factor.head.isIdempotent())
    return match.arguments.size() == 1
               ? !differ(branchesAsTerms(factor), branchesAsTerms(partner),
                         match.arguments[0])
               : fail("a reduction has no proof");
  if (match.left.size() != factor.branches.size() ||
      match.right.size() != partner.branches.size())
    return fail("a branch has no proof");
  for (auto [branch, proof] : llvm::zip(factor.branches, match.left))
    if (!covers(context, branch, partner.branches, proof))
      return false;
  for (auto [branch, proof] : llvm::zip(partner.branches, match.right))
    if (!covers(context, branch, factor.branches, proof))
      return false;
  return true;
}

/// Whether every value of a branch is one of the others', as `proof` says.
bool Checker::covers(const Context &context, const Branch &original,
                     ArrayRef<Branch> others, ArrayRef<Cover> proof) {
  Branch branch = renamed(original, names);
  Context inside = context;
  inside.bind(branch.variables);
  inside.assume(branch.guards);
  std::vector<Formula> any;
  for (const Cover &cover : proof) {
    if (cover.branch >= others.size() || !cover.value)
      return fail("a branch is covered by none");
    Branch other = renamed(others[cover.branch], names);
    std::vector<Integer> map = cover.map;
    bool isWellFormed = map.size() == other.variables.size();
    for (Integer &integer : map)
      isWellFormed = isWellFormed && fillSlots(integer, inside.scope);
    if (!isWellFormed)
      return fail("a map between branches is not well formed");
    for (const Integer &integer : map)
      if (integer.treeSize() > largestInteger)
        return fail("an integer is too large");
    Bindings toOther;
    for (auto [variable, integer] : llvm::zip(other.variables, map))
      toOther.insert({variable, integer});
    std::vector<Formula> there;
    for (const Formula &guard : other.guards)
      there.push_back(substitute(guard, toOther));
    Context both = inside;
    both.assume(there);
    Sum value = substitute(other.value, toOther, names);
    if (!isZero(both, difference(value, branch.value), 0, *cover.value))
      return false;
    any.push_back(Formula::all(std::move(there)));
  }
  return decider.holds(inside.known, Formula::any(std::move(any))) ||
         fail("a value of a branch is none of the other's");
}

} // namespace mlc::kernel
