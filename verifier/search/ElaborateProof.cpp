//===- ElaborateProof.cpp - Groups of terms that cancel -------------------===//

#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::optional<Zero> Elaborator::zero(const Context &context, const Sum &sum,
                                     unsigned width) {
  constexpr unsigned maxDepth = 12;
  // Each term is compared with all others.
  constexpr size_t mostTerms = 600, largest = 20000;
  if (sum.size() > mostTerms || sizeOf(sum) > largest)
    return fail("an element has too many terms");
  if (depth >= maxDepth || isExhausted())
    return fail("the search became too deep or took too long");
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  Sum simple = sum;
  std::vector<Step> steps = untangle(context, simple);
  if (std::optional<std::vector<Group>> found = groups(context, simple, width))
    return Zero{std::nullopt, {}, std::move(steps), std::move(*found)};
  // Case distinctions apply to the whole statement, not to parts.
  if (depth == 1) {
    std::optional<Zero> end = resolve(context, simple, width, /*isNew=*/false);
    if (end)
      end->steps.insert(end->steps.begin(), steps.begin(), steps.end());
    return end;
  }
  if (!simplify(context, simple, steps))
    return std::nullopt;
  if (std::optional<std::vector<Group>> found = groups(context, simple, width))
    return Zero{std::nullopt, {}, std::move(steps), std::move(*found)};
  return std::nullopt;
}

std::optional<std::vector<Group>>
Elaborator::groups(const Context &context, const Sum &sum, unsigned width) {
  std::vector<Group> result;
  std::vector<unsigned> open;
  for (unsigned i = 0; i < sum.size(); ++i)
    open.push_back(i);
  while (!open.empty()) {
    std::optional<Group> found;
    for (unsigned reference : open)
      if (isExhausted() ||
          (found = groupOf(context, sum, width, reference, open)))
        break;
    if (!found)
      return fail("a term is cancelled by none: " +
                  signatureOf(sum[open.front()]));
    llvm::erase(open, found->reference);
    for (const Member &member : found->members)
      llvm::erase(open, member.term);
    result.push_back(std::move(*found));
  }
  return result;
}

std::optional<Group> Elaborator::groupOf(const Context &context, const Sum &sum,
                                         unsigned width, unsigned reference,
                                         ArrayRef<unsigned> open) {
  const Term &base = sum[reference];
  std::string signature = signatureOf(base);
  auto cancels = [&](const Group &group) {
    Sum part{base};
    Group local{0, group.members};
    for (auto [i, member] : llvm::enumerate(local.members)) {
      part.push_back(sum[member.term]);
      member.term = i + 1;
    }
    Zero proof;
    proof.groups.push_back(local);
    return checker.isZero(context, part, width, proof);
  };
  Group all{reference, {}};
  for (unsigned term : open) {
    if (term == reference || signatureOf(sum[term]) != signature)
      continue;
    std::optional<Member> member = align(context, sum[term], base);
    if (!member)
      continue;
    member->term = term;
    bool isOpposite = (sum[term].coefficient + base.coefficient) == Rational(0);
    Group two{reference, {*member}};
    if (isOpposite && cancels(two))
      return two;
    all.members.push_back(std::move(*member));
  }
  if (cancels(all))
    return all;
  Group alone{reference, {}};
  return !all.members.empty() && cancels(alone) ? std::optional(alone)
                                                : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

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
  pairNumbers(term, reference, pairing);
  if (pairing.numbers.empty())
    return std::nullopt;
  ++work;
  llvm::append_range(pairing.zeros, pairing.numbers);
  return alignWith(pairing, context, term, reference, partner, isWhole);
}

/// Maps the variables of the terms to each other as the pairing says.
std::optional<Member> Elaborator::alignWith(const Pairing &pairing,
                                            const Context &context,
                                            const Term &term,
                                            const Term &reference,
                                            ArrayRef<unsigned> partner,
                                            bool *isWhole) {
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

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Values such that equality with any one suffices, with the way to show it.
static std::vector<std::pair<Sum, Shown>>
waysOf(const Need &need, unsigned number, Need::Kind kind) {
  Shown given{.kind = Shown::Kind::Given, .need = number};
  std::vector<std::pair<Sum, Shown>> ways{{need.value, given}};
  if (kind != Need::Kind::NotZero)
    return ways;
  given.isNegative = true;
  ways.push_back({scaled(need.value, Rational(-1)), given});
  bool isProduct = need.value.size() == 1 && need.value[0].variables.empty() &&
                   need.value[0].guards.empty();
  if (!isProduct || need.width > 0)
    return ways;
  Shown divisor{.kind = Shown::Kind::Divisor, .need = number};
  for (const FactorRef &factor : need.value[0].factors) {
    ways.push_back({isCall(*factor, UnaryFn::Reciprocal) ? factor->arguments[0]
                                                         : single(factor),
                    divisor});
    ++divisor.factor;
  }
  return ways;
}

std::optional<Shown> Elaborator::showGiven(Need::Kind kind, unsigned width,
                                           const Context &context,
                                           const Sum &value,
                                           ArrayRef<Sum> path) {
  // Indices determine where a given value equals this one, so untangle nested
  // quotients first. The proof is about `value`, at a place that the kernel
  // checks.
  Sum untangled = value;
  untangle(context, untangled);
  std::map<std::string, std::optional<Zero>> tried;
  for (auto [i, original] : llvm::enumerate(given)) {
    // Its variables may clash with those of the context.
    Branch named =
        renamed({original.variables, original.guards, original.value}, names);
    Need need = original;
    need.variables = named.variables;
    need.guards = named.guards;
    need.value = named.value;
    if (need.isOptional || need.width != width ||
        (need.kind != kind && need.kind != Need::Kind::Positive))
      continue;
    for (auto &[other, way] : waysOf(need, i, kind)) {
      std::optional<Bindings> map = placeOf(need, other, context, untangled);
      std::optional<std::vector<Integer>> slots =
          map ? toSlots(need.variables, *map, context.scope) : std::nullopt;
      if (!slots)
        continue;
      Sum there = add(withTruths(context, substitute(other, *map, names)),
                      scaled(value, Rational(-1)));
      auto [known, isNew] = tried.try_emplace(str(there));
      if (isNew)
        known->second = zero(context, there, width);
      const std::optional<Zero> &proof = known->second;
      if (!proof)
        continue;
      way.map = *slots;
      way.value = std::make_shared<const Zero>(*proof);
      if (checker.isShown(kind, width, context, value, path, way))
        return way;
    }
  }
  return std::nullopt;
}

/// The place at which one of the given values is this one.
std::optional<Bindings> Elaborator::placeOf(const Need &need, const Sum &other,
                                            const Context &context,
                                            const Sum &value) {
  Pairing pairing;
  if (!pair(other, value, pairing))
    return std::nullopt;
  std::optional<Bindings> map =
      solve(pairing, true, need.variables, {}, need.guards, {}, context.known,
            /*pairByRange=*/false);
  if (!map)
    return std::nullopt;
  chooseRest(need.variables, need.guards, *map);
  return map;
}

/// Shows each of these parts.
std::optional<Shown> Elaborator::showParts(Shown::Kind how, Need::Kind kind,
                                           const Context &context,
                                           ArrayRef<Sum> values,
                                           ArrayRef<Sum> path) {
  Shown shown{.kind = how};
  for (const Sum &value : values) {
    std::optional<Shown> part = show(kind, 0, context, value, path);
    if (!part)
      return std::nullopt;
    shown.parts.push_back(std::move(*part));
  }
  return shown;
}

/// Shows it in both cases of a truth value.
std::optional<Shown> Elaborator::showByTruth(Need::Kind kind,
                                             const Context &context,
                                             const Sum &value,
                                             ArrayRef<Sum> path) {
  constexpr size_t largest = 100, mostConditions = 6;
  Place at;
  std::optional<Place> place;
  if (depth <= 1 && sizeOf(value) <= largest && path.size() < mostConditions)
    place = findFactor(value, value, at,
                       [](const Factor &factor) { return factor.isTruth; });
  if (!place)
    return std::nullopt;
  FactorRef truth = checker.factorAt(*place, value);
  Shown shown{.kind = Shown::Kind::Truth};
  shown.place = *place;
  for (bool isOne : {true, false}) {
    std::vector<Sum> there = path.vec();
    there.push_back(isOne ? single(truth)
                          : add(constant(Rational(1)),
                                scaled(single(truth), Rational(-1))));
    std::optional<Shown> part =
        show(kind, 0, context, withTruth(value, *truth, isOne), there);
    if (!part)
      return std::nullopt;
    shown.parts.push_back(std::move(*part));
  }
  return shown;
}

std::optional<Shown> Elaborator::show(Need::Kind kind, unsigned width,
                                      const Context &outer, const Sum &value,
                                      ArrayRef<Sum> path) {
  Context context = alongPath(outer, path);
  Shown signs;
  if (checker.isShown(kind, width, context, value, path, signs))
    return signs;
  if (auto shown = showGiven(kind, width, context, value, path))
    return shown;
  if (width == 0)
    if (auto shown = showPoint(kind, context, value))
      return shown;
  if (width == 0)
    if (auto shown = showBound(kind, context, value))
      return shown;
  if (width > 0 || kind == Need::Kind::Defined)
    return std::nullopt;
  const Factor *factor = onlyFactor(value);
  if (factor && isCall(*factor, UnaryFn::Sqrt) &&
      value[0].coefficient == Rational(1)) {
    Shown shown{.kind = Shown::Kind::Root};
    for (Need::Kind part : {Need::Kind::NotZero, Need::Kind::NotNegative})
      if (auto one = show(part, 0, context, factor->arguments[0], path))
        shown.parts.push_back(std::move(*one));
    if (shown.parts.size() == 2)
      return shown;
  }
  bool hasSign = value.size() == 1 && (kind == Need::Kind::NotZero ||
                                       value[0].coefficient > Rational(0));
  if (hasSign && factor && isCall(*factor, UnaryFn::Reciprocal))
    if (auto shown = showParts(Shown::Kind::Inverse, kind, context,
                               factor->arguments[0], path))
      return shown;
  bool isProduct =
      hasSign && value[0].variables.empty() && value[0].guards.empty() &&
      (value[0].factors.size() > 1 ||
       (value[0].factors.size() == 1 && value[0].coefficient != Rational(1)));
  if (isProduct) {
    std::vector<Sum> factors;
    for (const FactorRef &one : value[0].factors)
      factors.push_back(single(one));
    if (auto shown =
            showParts(Shown::Kind::Product, kind, context, factors, path))
      return shown;
  }
  return showByTruth(kind, context, value, path);
}

} // namespace mlc::elaborate
