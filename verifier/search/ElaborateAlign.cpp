//===- ElaborateAlign.cpp - Terms that are one another --------------------===//
//
// Maps the variables of a term to those of another one, so that their factors
// agree.
//
//===----------------------------------------------------------------------===//

#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

std::optional<Member> Elaborator::align(const Context &context,
                                        const Term &term,
                                        const Term &reference) {
  // Copies and comparisons of large terms also count as work.
  constexpr size_t elementsOfOneStep = 256;
  work += (sizeOf({term}) + sizeOf({reference})) / elementsOfOneStep;
  if (isExhausted())
    return std::nullopt;
  Term own = renamed(term, names), base = renamed(reference, names);
  std::vector<std::vector<unsigned>> partners =
      pairings(productOf(own).factors, productOf(base).factors);
  // The best pairing maps all of one term onto all of the other.
  std::optional<Member> first;
  for (const std::vector<unsigned> &partner : partners) {
    bool isWhole = true;
    std::optional<Member> member = alignBy(
        context, own, base, partner, partners.size() > 1 ? &isWhole : nullptr);
    if (member && isWhole)
      return member;
    if (member && !first)
      first = std::move(member);
  }
  return first;
}

std::optional<Member> Elaborator::alignBy(const Context &context,
                                          const Term &term,
                                          const Term &reference,
                                          ArrayRef<unsigned> partner,
                                          bool *isWhole) {
  ++work;
  if (isExhausted())
    return std::nullopt;
  Product own = productOf(term), base = productOf(reference);
  Pairing pairing;
  for (auto [i, factor] : llvm::enumerate(own.factors))
    if (!pair(*factor, *base.factors[partner[i]], pairing))
      return std::nullopt;
  if (auto member =
          alignWith(pairing, context, term, reference, partner, isWhole))
    return member;
  // Numbers help where indices say nothing of a variable.
  pairNumbers(term, reference, pairing);
  std::vector<IntExpr> free;
  for (ArrayRef<Variable> variables : {ArrayRef<Variable>(term.variables),
                                       ArrayRef<Variable>(reference.variables)})
    for (Variable variable : variables) {
      IntExpr symbol = IntExpr::symbol(mlir, nameOf(variable));
      if (llvm::none_of(pairing.zeros, [&](IntExpr zero) {
            return verifier::mentions(zero, symbol);
          }))
        free.push_back(symbol);
    }
  bool isNew = false;
  for (IntExpr number : pairing.numbers)
    if (llvm::any_of(free, [&](IntExpr symbol) {
          return verifier::mentions(number, symbol);
        })) {
      pairing.zeros.push_back(number);
      isNew = true;
    }
  if (!isNew)
    return std::nullopt;
  ++work;
  return alignWith(pairing, context, term, reference, partner, isWhole);
}

/// Maps the variables of the terms to each other as the pairing says.
std::optional<Member>
Elaborator::alignWith(const Pairing &pairing, const Context &context,
                      const Term &term, const Term &reference,
                      ArrayRef<unsigned> partner, bool *isWhole) {
  Product own = productOf(term), base = productOf(reference);
  std::optional<Bindings> sigma =
      solve(pairing, true, term.variables, reference.variables, term.guards,
            reference.guards, context.known, /*pairByRange=*/true);
  std::optional<Bindings> tau =
      solve(pairing, false, reference.variables, term.variables,
            reference.guards, term.guards, context.known, /*pairByRange=*/true);
  if (!sigma || !tau)
    return std::nullopt;
  Context inReference = context, inTerm = context;
  inReference.bind(reference.variables);
  inTerm.bind(term.variables);
  inTerm.assume(term.guards);
  std::optional<std::vector<Integer>> sigmaSlots =
                                          toSlots(term.variables, *sigma,
                                                  inReference.scope),
                                      tauSlots = toSlots(reference.variables,
                                                         *tau, inTerm.scope);
  if (!sigmaSlots || !tauSlots)
    return std::nullopt;
  std::vector<Formula> returns, image;
  for (Variable v : term.variables)
    returns.push_back(
        Formula::equal(substitute(sigma->at(v), *tau), Integer::variable(v)));
  if (!decider.holds(inTerm.known, Formula::all(std::move(returns))))
    return std::nullopt;
  for (const Formula &guard : term.guards)
    image.push_back(substitute(guard, *sigma));
  for (Variable r : reference.variables)
    image.push_back(
        Formula::equal(substitute(tau->at(r), *sigma), Integer::variable(r)));
  if (isWhole) {
    Context all = inReference;
    all.assume(reference.guards);
    *isWhole = decider.holds(all.known, Formula::all(image));
  }
  inReference.assume(image);
  Member member{0, std::move(*sigmaSlots), std::move(*tauSlots), {}};
  for (auto [i, factor] : llvm::enumerate(own.factors)) {
    std::optional<Match> one =
        match(inReference, *substitute(factor, *sigma, names),
              *base.factors[partner[i]], partner[i]);
    if (!one)
      return std::nullopt;
    member.factors.push_back(std::move(*one));
  }
  return member;
}

std::optional<Match> Elaborator::match(const Context &context,
                                       const Factor &factor,
                                       const Factor &partner,
                                       unsigned position) {
  Match result{position, {}, {}, {}};
  if (same(factor, partner))
    return result;
  std::vector<Formula> equal;
  for (auto [x, y] : llvm::zip(factor.index, partner.index))
    if (!(x == y))
      equal.push_back(Formula::equal(x, y));
  if (!decider.holds(context.known, Formula::all(std::move(equal))))
    return std::nullopt;
  auto differ = [&](const Sum &x, const Sum &y) {
    return zero(context, difference(x, y), 0);
  };
  if (factor.kind != Factor::Kind::Reduce) {
    for (auto [x, y] : llvm::zip(factor.arguments, partner.arguments)) {
      std::optional<Zero> proof = differ(x, y);
      if (!proof)
        return std::nullopt;
      result.arguments.push_back(
          std::make_shared<const Zero>(std::move(*proof)));
    }
    return result;
  }
  if (!factor.head.isIdempotent()) {
    std::optional<Zero> proof =
        differ(branchesAsTerms(factor), branchesAsTerms(partner));
    if (!proof)
      return std::nullopt;
    result.arguments.push_back(std::make_shared<const Zero>(std::move(*proof)));
    return result;
  }
  auto all = [&](const Factor &from, const Factor &to,
                 std::vector<std::vector<Cover>> &out) {
    return llvm::all_of(from.branches, [&](const Branch &branch) {
      auto covers = cover(context, branch, to.branches);
      if (covers)
        out.push_back(std::move(*covers));
      return covers.has_value();
    });
  };
  if (!all(factor, partner, result.left) || !all(partner, factor, result.right))
    return std::nullopt;
  return result;
}

/// Variables that equations leave open get the least value that their guards
/// admit.
void Elaborator::chooseRest(ArrayRef<Variable> variables,
                            ArrayRef<Formula> guards, Bindings &map) const {
  for (Variable v : variables) {
    if (map.count(v))
      continue;
    std::vector<Formula> there;
    for (const Formula &guard : guards)
      there.push_back(substitute(guard, map));
    std::vector<IntExpr> witnesses = verifier::witnessCandidates(
        IntExpr::symbol(mlir, nameOf(v)), toGuards(there));
    Integer least = fromExpr(witnesses.front());
    map.insert({v, least});
    for (auto &[variable, integer] : map)
      integer = substitute(integer, Bindings{{v, least}});
  }
}

std::optional<std::vector<Cover>> Elaborator::cover(const Context &context,
                                                    const Branch &original,
                                                    ArrayRef<Branch> others) {
  ++work;
  if (isExhausted())
    return std::nullopt;
  Branch branch = renamed(original, names);
  Context inside = context;
  inside.bind(branch.variables);
  inside.assume(branch.guards);
  std::vector<Cover> result;
  std::vector<Formula> any;
  if (decider.holds(inside.known, Formula::any({})))
    return result;
  for (auto [i, candidate] : llvm::enumerate(others)) {
    Branch other = renamed(candidate, names);
    Pairing pairing;
    if (other.value.size() != branch.value.size() ||
        !pair(other.value, branch.value, pairing))
      continue;
    std::optional<Bindings> map =
        solve(pairing, true, other.variables, branch.variables, other.guards,
              branch.guards, inside.known, /*pairByRange=*/true);
    if (!map)
      map = solve(pairing, true, other.variables, branch.variables,
                  other.guards, branch.guards, inside.known,
                  /*pairByRange=*/false);
    if (!map)
      continue;
    chooseRest(other.variables, other.guards, *map);
    std::optional<std::vector<Integer>> slots =
        toSlots(other.variables, *map, inside.scope);
    if (!slots)
      continue;
    std::vector<Formula> there;
    for (const Formula &guard : other.guards)
      there.push_back(substitute(guard, *map));
    Context both = inside;
    both.assume(there);
    Sum value = substitute(other.value, *map, names);
    std::optional<Zero> proof = zero(both, difference(value, branch.value), 0);
    if (!proof)
      continue;
    result.push_back({static_cast<unsigned>(i), std::move(*slots),
                      std::make_shared<const Zero>(*proof)});
    any.push_back(Formula::all(std::move(there)));
    if (decider.holds(inside.known, Formula::any(any)))
      return result;
  }
  return std::nullopt;
}

} // namespace mlc::elaborate
