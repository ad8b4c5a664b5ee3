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
