//===- Equality.cpp - Are two normal forms equal? -------------------------===//
//
// a - b is 0 when its terms cancel. Terms of one signature are mapped into the
// index space of one of them, the reference: term i, with domain D_i, by
// sigma_i (its variables from the reference's, r) and tau_i (the other way),
// such that
//
//   D_i(v)  =>  tau_i(v) >= 0 and sigma_i(tau_i(v)) = v
//   P_i(r) := D_i(sigma_i(r)) and tau_i(sigma_i(r)) = r
//   P_i(r)  =>  the atoms of i at sigma_i(r) are the reference's at r
//   sum of coefficient_i * [P_i(r)] = 0
//
// for all v >= 0 and r >= 0. The first two make sigma_i a bijection of P_i with
// D_i: a tau_i(v) below 0 would be no point of the reference, and v would be
// left out. So the last says that the terms cancel.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Equality.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

static Formula formulaOf(ArrayRef<Guard> guards) {
  std::vector<Formula> parts;
  for (const Guard &guard : guards)
    parts.push_back(Formula::guard(guard));
  return Formula::allOf(std::move(parts));
}

bool Prover::fail(const std::string &reason) {
  if (failure.empty())
    failure = reason;
  return false;
}

static bool isContradiction(const Facts &facts, Solver &solver) {
  Formula none = Formula::negation(formulaOf(facts.getGuards()));
  return solver.check(none, "this case is empty", 0.125) ==
         Solver::Answer::Valid;
}

bool Prover::holds(const Guard &guard, const Facts &facts, const char *title) {
  Guard simple = facts.simplify(guard);
  if (simple.expr.isConstant() && facts.implies(simple))
    return true;
  Formula lemma =
      Formula::implies(formulaOf(facts.getGuards()), Formula::guard(guard));
  if (facts.implies(simple) || facts.implies(guard)) {
    if (!llvm::is_contained(facts.getGuards(), guard))
      solver.record(lemma, title);
    return true;
  }
  return solver.check(lemma, title) == Solver::Answer::Valid;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool Prover::equal(const Sum &a, const Sum &b, const Facts &facts) {
  if (depth > 24 || !n.getBudget().check())
    return fail("the proof became too deep or took too long");
  if (sameSum(a, b))
    return true;
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  Sum difference = n.simplify(add(a, negated(b)), facts);
  if (!n.getBudget().check())
    return fail("the proof became too large or took too long");
  // Guards over free indices are decided first.
  for (const Term &term : difference.terms)
    for (const Guard &guard : term.domain.guards) {
      if (llvm::any_of(term.domain.variables,
                       [&](IntExpr v) { return mentions(guard, v); }))
        continue;
      Sum zero;
      return equal(difference, zero, facts.with({guard})) &&
             equal(difference, zero, facts.with({guard.negated()}));
    }
  std::map<std::string, std::vector<Term>> classes;
  for (const Term &term : difference.terms)
    classes[signatureOf(term)].push_back(term);
  for (const auto &entry : classes)
    if (!cancels(entry.second, facts))
      return isContradiction(facts, solver);
  return true;
}

bool Prover::cancels(std::vector<Term> terms, const Facts &facts) {
  while (!terms.empty()) {
    bool found = false;
    // Find a reference to which its partners can be mapped.
    for (size_t r = 0; r < terms.size() && !found; ++r) {
      const Term reference = terms[r];
      std::vector<Aligned> aligned{
          {reference.coefficient,
           {reference.domain.guards.begin(), reference.domain.guards.end()}}};
      std::vector<Term> rest;
      for (size_t i = 0; i < terms.size(); ++i) {
        if (i == r)
          continue;
        if (std::optional<Aligned> one = align(terms[i], reference, facts))
          aligned.push_back(std::move(*one));
        else
          rest.push_back(terms[i]);
      }
      found = sumsToZero(aligned, facts);
      if (found)
        terms = std::move(rest);
    }
    if (!found)
      return fail("no partner cancels the term " + str(terms.front()));
  }
  return true;
}

static bool sameGuards(ArrayRef<Guard> a, ArrayRef<Guard> b) {
  auto within = [](ArrayRef<Guard> x, ArrayRef<Guard> y) {
    return llvm::all_of(
        x, [&](const Guard &g) { return llvm::is_contained(y, g); });
  };
  return within(a, b) && within(b, a);
}

bool Prover::sumsToZero(ArrayRef<Aligned> terms, const Facts &facts) {
  if (terms.size() == 1) {
    Facts inside = facts.with(terms[0].guards);
    return solver.check(Formula::negation(formulaOf(inside.getGuards())),
                        "this term is empty") == Solver::Answer::Valid;
  }
  if (terms.size() == 2 &&
      terms[0].coefficient + terms[1].coefficient == Fraction(0)) {
    auto implied = [&](const Aligned &from, const Aligned &to) {
      Facts inside = facts.with(from.guards);
      return llvm::all_of(to.guards, [&](const Guard &guard) {
        return holds(guard, inside, "one domain lies in the other");
      });
    };
    return sameGuards(terms[0].guards, terms[1].guards) ||
           (implied(terms[0], terms[1]) && implied(terms[1], terms[0]));
  }
  llvm::DynamicAPInt common(1);
  for (const Aligned &term : terms)
    common = lcm(common, term.coefficient.den);
  std::vector<std::pair<int64_t, Formula>> weighted;
  for (const Aligned &term : terms) {
    llvm::DynamicAPInt weight =
        term.coefficient.num * (common / term.coefficient.den);
    if (abs(weight) > llvm::DynamicAPInt(int64_t(1) << 60))
      return false;
    weighted.push_back({static_cast<int64_t>(weight), formulaOf(term.guards)});
  }
  Formula lemma = Formula::implies(formulaOf(facts.getGuards()),
                                   Formula::weightedZero(std::move(weighted)));
  return solver.check(lemma, "coefficients cancel") == Solver::Answer::Valid;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

std::optional<Prover::Aligned>
Prover::align(const Term &term, const Term &reference, const Facts &facts) {
  Term fresh = n.freshened(term);
  for (const std::vector<unsigned> &partner : factorPairings(fresh, reference))
    if (std::optional<Aligned> result =
            alignBy(fresh, reference, partner, facts))
      return result;
  return std::nullopt;
}

/// The guards that restrict the images of variables.
static std::vector<Guard> imageGuards(const Domain &domain,
                                      const Substitution &map) {
  std::vector<Guard> guards;
  for (IntExpr v : domain.variables)
    guards.push_back(Guard::nonNegative(substitute(v, map)));
  for (const Guard &guard : domain.guards)
    guards.push_back({guard.kind, substitute(guard.expr, map)});
  return guards;
}

/// The guards that do not follow from facts and earlier guards; adds all guards
/// to `known`.
std::vector<Guard> Prover::pruned(ArrayRef<Guard> guards, Facts &known) {
  std::vector<Guard> result;
  for (const Guard &guard : guards) {
    Guard simple = known.simplify(guard);
    if (known.implies(simple)) {
      if (!guard.expr.isKnownNonNegative() && !guard.expr.isConstant(0) &&
          !llvm::is_contained(known.getGuards(), guard))
        solver.record(Formula::implies(formulaOf(known.getGuards()),
                                       Formula::guard(guard)),
                      "an image lies in the domain");
      continue;
    }
    result.push_back(simple);
    known.add(simple);
  }
  return result;
}

std::optional<Prover::Aligned> Prover::alignBy(const Term &term,
                                               const Term &reference,
                                               ArrayRef<unsigned> partner,
                                               const Facts &facts) {
  if (!n.getBudget().check())
    return std::nullopt;
  Equations equations;
  for (size_t i = 0; i < term.factors.size(); ++i)
    if (!collectEquations(*term.factors[i].atom,
                          *reference.factors[partner[i]].atom, equations))
      return std::nullopt;
  llvm::append_range(equations.leftGuards, term.domain.guards);
  llvm::append_range(equations.rightGuards, reference.domain.guards);
  Facts both = facts.with(term.domain.guards).with(reference.domain.guards);
  std::optional<Substitution> sigma = solveEquations(
      {equations.zeros, term.domain.variables, equations.leftInner,
       reference.domain.variables, equations.rightInner, equations.leftGuards,
       equations.rightGuards},
      both, /*pairByRange=*/true);
  std::optional<Substitution> tau = solveEquations(
      {equations.zeros, reference.domain.variables, equations.rightInner,
       term.domain.variables, equations.leftInner, equations.rightGuards,
       equations.leftGuards},
      both, /*pairByRange=*/true);
  if (!sigma || !tau)
    return std::nullopt;
  // tau leads into the reference's space, and sigma tau = id, on the term's
  // domain.
  Facts inTerm = facts.with(term.domain.guards);
  for (IntExpr r : reference.domain.variables)
    if (!holds(Guard::nonNegative(substitute(r, *tau)), inTerm,
               "tau leads to a point"))
      return std::nullopt;
  for (IntExpr v : term.domain.variables) {
    IntExpr back = substitute(substitute(v, *sigma), *tau);
    if (!holds(Guard::zero(back - v), inTerm, "sigma inverts tau"))
      return std::nullopt;
  }
  std::vector<Guard> guards = imageGuards(term.domain, *sigma);
  for (IntExpr r : reference.domain.variables) {
    IntExpr there = substitute(substitute(r, *tau), *sigma);
    guards.push_back(Guard::zero(there - r));
  }
  Facts known = facts;
  Aligned result{term.coefficient, pruned(guards, known)};
  Term image = substitute(term, *sigma);
  for (size_t i = 0; i < image.factors.size(); ++i)
    if (!equalAtoms(*image.factors[i].atom, *reference.factors[partner[i]].atom,
                    known))
      return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

bool Prover::equalAtoms(const Atom &a, const Atom &b, const Facts &facts) {
  if (sameAtom(a, b))
    return true;
  if (headOf(a) != headOf(b) || a.index.size() != b.index.size() ||
      a.arguments.size() != b.arguments.size())
    return false;
  for (auto [x, y] : llvm::zip(a.index, b.index))
    if (!holds(Guard::zero(x - y), facts, "indices agree"))
      return false;
  for (auto [x, y] : llvm::zip(a.arguments, b.arguments))
    if (!equal(x, y, facts))
      return false;
  return a.kind != Atom::Kind::Reduce || equalReductions(a, b, facts);
}

/// Branches as terms, so that multisets of values are compared.
static Sum asTerms(ArrayRef<Branch> branches) {
  Sum result;
  for (const Branch &branch : branches)
    result.terms.push_back(
        {Fraction(1),
         branch.domain,
         {{makeUninterpreted("@value", {branch.value}), 1}}});
  return result;
}

bool Prover::equalReductions(const Atom &a, const Atom &b, const Facts &facts) {
  if (!a.head.isIdempotent())
    return equal(asTerms(a.branches), asTerms(b.branches), facts);
  return covers(a.branches, b.branches, facts) &&
         covers(b.branches, a.branches, facts);
}

bool Prover::covers(ArrayRef<Branch> branches, ArrayRef<Branch> by,
                    const Facts &facts) {
  return llvm::all_of(branches, [&](const Branch &branch) {
    return coversBranch(branch, by, facts);
  });
}

/// Whether every value of `branch` is a value of one of `by`.
bool Prover::coversBranch(const Branch &original, ArrayRef<Branch> by,
                          const Facts &facts) {
  Branch branch = n.freshened(original);
  Facts inside = facts.with(branch.domain.guards);
  std::vector<Formula> options;
  for (const Branch &candidate : by) {
    Branch target = n.freshened(candidate);
    Equations equations;
    if (!collectEquations(target.value, branch.value, equations))
      continue;
    llvm::append_range(equations.leftGuards, target.domain.guards);
    llvm::append_range(equations.rightGuards, branch.domain.guards);
    std::optional<Substitution> map = solveEquations(
        {equations.zeros, target.domain.variables, equations.leftInner,
         branch.domain.variables, equations.rightInner, equations.leftGuards,
         equations.rightGuards},
        inside.with(target.domain.guards), /*pairByRange=*/false);
    if (!map)
      continue;
    // Try a few witnesses for each variable that the equations leave open.
    std::vector<Substitution> maps{*map};
    for (IntExpr v : target.domain.variables) {
      if (map->count(v.getSymbol().str()))
        continue;
      std::vector<Substitution> more;
      for (const Substitution &known : maps) {
        std::vector<Guard> guards;
        for (const Guard &guard : target.domain.guards)
          guards.push_back({guard.kind, substitute(guard.expr, known)});
        std::vector<IntExpr> witnesses = witnessCandidates(v, guards);
        llvm::append_range(witnesses, branch.domain.variables);
        for (IntExpr witness : witnesses) {
          Substitution chosen{{v.getSymbol().str(), witness}};
          more.push_back(known);
          for (auto &entry : more.back())
            entry.second = substitute(entry.second, chosen);
          more.back()[v.getSymbol().str()] = witness;
        }
      }
      if (more.size() > 16)
        more.resize(16);
      maps = std::move(more);
    }
    for (const Substitution &one : maps) {
      Facts known = inside;
      std::vector<Guard> guards =
          pruned(imageGuards(target.domain, one), known);
      if (!equal(substitute(target.value, one), branch.value, known))
        continue;
      if (llvm::all_of(guards, [&](const Guard &guard) {
            return holds(guard, inside, "the value is among the others");
          }))
        return true;
      options.push_back(formulaOf(guards));
    }
  }
  if (options.empty())
    return isContradiction(inside, solver);
  Formula lemma = Formula::implies(formulaOf(inside.getGuards()),
                                   Formula::anyOf(std::move(options)));
  return solver.check(lemma, "the value is among the others") ==
         Solver::Answer::Valid;
}

//===----------------------------------------------------------------------===//
// Free indices
//===----------------------------------------------------------------------===//

static Facts substitute(const Facts &facts, const Substitution &map,
                        IntExpr divisor, const Facts &digits) {
  Facts result;
  for (const Guard &guard : digits.getGuards())
    result.add(guard);
  for (const Guard &guard : facts.getGuards()) {
    Guard replaced{guard.kind, substitute(guard.expr, map)};
    if (!(replaced == guard))
      result.add(divideGuard(replaced, divisor, digits));
    result.add(replaced);
  }
  return result;
}

bool splitFreeIndex(ArrayRef<Sum *> sums, Facts &facts,
                    llvm::SmallVectorImpl<IntExpr> &free, Normalizer &n) {
  std::optional<DigitSplit> split;
  for (const Sum *sum : sums)
    walkIndices(*sum, [&](IntExpr e) {
      if (!split)
        split = findDigitSplit(e, free, facts, n);
    });
  if (!split)
    return false;
  Substitution map{{split->variable.getSymbol().str(), split->value}};
  IntExpr divisor = split->guards.front().expr + split->rest + 1;
  Facts digits;
  for (const Guard &guard : facts.getGuards())
    if (!mentions(guard, split->variable))
      digits.add(guard);
  for (const Guard &guard : split->guards)
    digits.add(guard);
  facts = substitute(facts, map, divisor, digits);
  llvm::erase(free, split->variable);
  free.push_back(split->quotient);
  free.push_back(split->rest);
  for (Sum *sum : sums)
    *sum = n.simplify(substitute(*sum, map), facts);
  return true;
}

} // namespace mlc::verifier
