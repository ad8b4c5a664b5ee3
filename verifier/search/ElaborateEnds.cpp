//===- ElaborateEnds.cpp - Reasons for 0 where terms do not cancel --------===//
//
// The ends of a proof, tried in order; the first that applies is kept: an
// integer between bounds, a value between bounds, logarithms, quotients, a
// truth value that is 1 or 0, and the order of a maximum's values, which gives
// truth values.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Unfold.h"
#include "verifier/search/Elaborate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using namespace mlc::kernel;

namespace mlc::elaborate {

std::optional<Zero> Elaborator::resolve(const Context &context, const Sum &sum,
                                        unsigned width, bool isNew) {
  constexpr unsigned mostEnds = 300, maxDepth = 24;
  constexpr size_t largest = 3000;
  if (isExhausted() || endDepth > maxDepth || numEnds++ > mostEnds ||
      sizeOf(sum) > largest)
    return fail("the search became too deep or took too long");
  llvm::SaveAndRestore<unsigned> deeper(endDepth, endDepth + 1);
  Sum simple = sum;
  std::vector<Step> steps;
  isNew |= simplify(context, simple, steps);
  std::optional<Zero> result;
  std::optional<std::vector<Group>> found;
  if (isNew && (found = groups(context, simple, width)))
    result = Zero{std::nullopt, {}, {}, std::move(*found)};
  else
    result = endOf(context, simple, width);
  if (result)
    result->steps.insert(result->steps.begin(), steps.begin(), steps.end());
  return result;
}

/// An end that led to other sums is not undone: all other ends would try it
/// again.
std::optional<Zero> Elaborator::endOf(const Context &context, const Sum &sum,
                                      unsigned width) {
  const unsigned before = numEnds;
  std::optional<Zero> found;
  auto isDone = [&](std::optional<Zero> zero) {
    found = std::move(zero);
    return found || numEnds != before;
  };
  bool isOver =
      width == 0 &&
      (isDone(byNote(context, sum, /*isOfRange=*/false)) ||
       isDone(byWhole(context, sum)) || isDone(byBetween(context, sum)) ||
       isDone(byNote(context, sum, /*isOfRange=*/true)) ||
       isDone(byExpansion(context, sum, width, Expansion::Tanh)) ||
       isDone(byLogarithms(context, sum)) || isDone(byClearing(context, sum)) ||
       isDone(byJoinedReciprocals(context, sum)));
  // The order of two residues is an otherwise unknown truth value, so expand it
  // before distinguishing truth values.
  if (!isOver && !isDone(bySplitting(context, sum, width)) &&
      !isDone(byExpansion(context, sum, width, Expansion::Residues)) &&
      !isDone(byTruth(context, sum, width)))
    found = byExpansion(context, sum, width, Expansion::All);
  return found;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// All of `reasons`, or nullopt if one is missing.
template <class... Reasons>
static std::optional<std::vector<Shown>> allOf(const Reasons &...reasons) {
  if (!(reasons && ...))
    return std::nullopt;
  return std::vector<Shown>{*reasons...};
}

std::optional<Zero> Elaborator::byBetween(const Context &context,
                                          const Sum &sum) {
  if (context.values.empty())
    return std::nullopt;
  auto shown = allOf(
      showBound(Need::Kind::NotNegative, context, sum),
      showBound(Need::Kind::NotNegative, context, scaled(sum, Rational(-1))));
  if (!shown)
    return std::nullopt;
  Zero zero;
  zero.kind = Zero::Kind::Between;
  zero.shown = std::move(*shown);
  return zero;
}

/// Adds the bounds of a rounded value unless they are known, or those of a
/// function of finite range that is compared with other values.
std::optional<Zero> Elaborator::byNote(const Context &context, const Sum &sum,
                                       bool isOfRange) {
  if (isOfRange && context.values.empty())
    return std::nullopt;
  Place path;
  Context wider;
  std::optional<Place> place =
      findFactor(sum, sum, path, [&](const Factor &factor) {
        bool isRounding = isCall(factor, UnaryFn::Floor) ||
                          isCall(factor, UnaryFn::Ceil) ||
                          isCall(factor, UnaryFn::RoundEven);
        std::optional<UnaryFn> function = functionOf(factor);
        bool hasRange = function && factsOf(*function).isDefinedEverywhere() &&
                        std::isfinite(factsOf(*function).range.high);
        if (!(isOfRange ? hasRange : isRounding))
          return false;
        wider = noted(context, factor);
        return wider.values.size() > context.values.size() &&
               llvm::none_of(context.values, [&](const Known &known) {
                 return same(known.value, wider.values.back().value);
               });
      });
  if (!place)
    return std::nullopt;
  std::optional<Zero> then = resolve(wider, sum, 0);
  if (!then)
    return std::nullopt;
  Zero zero;
  zero.kind = Zero::Kind::Note;
  zero.place = *place;
  zero.cases.push_back(std::move(*then));
  return zero;
}

std::optional<Zero> Elaborator::byWhole(const Context &context,
                                        const Sum &sum) {
  Sum one = constant(Rational(1)), negative = scaled(sum, Rational(-1));
  auto above = showBound(Need::Kind::Positive, context, add(sum, one));
  if (!above)
    return std::nullopt;
  auto shown = allOf(
      above, showBound(Need::Kind::Positive, context, add(negative, one)));
  if (!shown)
    return std::nullopt;
  Zero zero;
  zero.kind = Zero::Kind::Whole;
  zero.shown = std::move(*shown);
  return checker.isZero(context, sum, 0, zero) ? std::optional(zero)
                                               : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Logarithms and quotients
//===----------------------------------------------------------------------===//

std::optional<Zero> Elaborator::byLogarithms(const Context &context,
                                             const Sum &sum) {
  Zero zero;
  zero.kind = Zero::Kind::Logarithms;
  Sum over = constant(Rational(1)), under = over, rest;
  for (const Logarithm &log : logarithmsOf(sum, rest)) {
    std::optional<Shown> shown =
        show(Need::Kind::Positive, 0, context, log.argument, {});
    if (!shown)
      return std::nullopt;
    zero.shown.push_back(std::move(*shown));
    Sum &product = log.isPlus ? over : under;
    product = multiply(product, log.argument, names);
  }
  if (zero.shown.empty())
    return std::nullopt;
  if (!rest.empty())
    over = multiply(over, single(makeCall(UnaryFn::Exp, {rest})), names);
  std::optional<Zero> then =
      resolve(context, add(over, scaled(under, Rational(-1))), 0);
  if (!then)
    return std::nullopt;
  zero.cases.push_back(std::move(*then));
  return zero;
}

std::optional<Zero> Elaborator::byClearing(const Context &context,
                                           const Sum &sum) {
  for (unsigned t = 0; t < sum.size(); ++t)
    for (unsigned f = 0; f < sum[t].factors.size(); ++f) {
      Place place{{t, f, 0}};
      FactorRef inverse = isCall(*sum[t].factors[f], UnaryFn::Reciprocal)
                              ? checker.factorAt(place, sum)
                              : nullptr;
      if (!inverse)
        continue;
      const Sum &divisor = inverse->arguments[0];
      std::optional<Shown> shown =
          show(Need::Kind::NotZero, 0, context, divisor, {});
      if (!shown)
        continue;
      Sum cleared;
      for (const Term &original : sum) {
        Term term = original;
        auto it = llvm::find_if(term.factors, [&](const FactorRef &factor) {
          return same(*factor, *inverse);
        });
        bool isThere = it != term.factors.end();
        if (isThere)
          term.factors.erase(it);
        llvm::append_range(cleared, isThere ? Sum{term}
                                            : multiply({term}, divisor, names));
      }
      std::optional<Zero> then = resolve(context, cleared, 0);
      if (!then)
        return std::nullopt;
      Zero zero;
      zero.kind = Zero::Kind::Clear;
      zero.place = place;
      zero.shown.push_back(std::move(*shown));
      zero.cases.push_back(std::move(*then));
      return zero;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Distinctions
//===----------------------------------------------------------------------===//

std::optional<Elaborator::Place>
Elaborator::findFactor(const Sum &root, const Sum &sum, Place &path,
                       llvm::function_ref<bool(const Factor &)> isWanted) {
  for (unsigned t = 0; t < sum.size(); ++t)
    for (unsigned f = 0; f < sum[t].factors.size(); ++f) {
      const Factor &factor = *sum[t].factors[f];
      path.push_back({t, f, 0});
      // Inner factors come first.
      for (unsigned a = 0; a < factor.arguments.size(); ++a) {
        path.back()[2] = a;
        if (auto found = findFactor(root, factor.arguments[a], path, isWanted))
          return found;
      }
      for (unsigned b = 0; b < factor.branches.size(); ++b) {
        path.back()[2] = b;
        if (auto found =
                findFactor(root, factor.branches[b].value, path, isWanted))
          return found;
      }
      path.back()[2] = 0;
      if (isWanted(factor) && checker.factorAt(path, root))
        return path;
      path.pop_back();
    }
  return std::nullopt;
}

/// Finds a value that is given as nonzero or positive here, but is 0 under the
/// known truth values.
std::optional<Zero> Elaborator::byAbsurdity(const Context &context) {
  for (auto [i, need] : llvm::enumerate(given)) {
    if (need.isOptional || need.variables.size() > context.scope.size() ||
        (need.kind != Need::Kind::NotZero && need.kind != Need::Kind::Positive))
      continue;
    Bindings values;
    Shown shown{.kind = Shown::Kind::Given, .need = static_cast<unsigned>(i)};
    for (auto [v, variable] : llvm::enumerate(need.variables)) {
      values.insert({variable, context.scope[v]});
      shown.map.push_back(Integer::slot(v));
    }
    Sum there = substitute(need.value, values, names),
        value = withTruths(context, there);
    if (same(value, there))
      continue;
    std::optional<Zero> proof = this->zero(context, value, need.width);
    if (!proof)
      continue;
    shown.value = std::make_shared<const Zero>(std::move(*proof));
    Zero zero;
    zero.kind = Zero::Kind::Absurd;
    zero.shown.push_back(std::move(shown));
    if (checker.isZero(context, {}, 0, zero))
      return zero;
  }
  return std::nullopt;
}

std::optional<Zero> Elaborator::byTruth(const Context &context, const Sum &sum,
                                        unsigned width) {
  Place path;
  std::optional<Place> place = findFactor(sum, sum, path, [](const Factor &f) {
    return f.isTruth && !isCall(f, Head::Kind::Zero);
  });
  if (!place)
    return std::nullopt;
  FactorRef truth = checker.factorAt(*place, sum);
  Zero zero;
  zero.kind = Zero::Kind::Truth;
  zero.place = *place;
  for (bool isOne : {true, false}) {
    Context inside = context;
    inside.truths.push_back({truth, isOne});
    if (std::optional<Zero> absurd = byAbsurdity(inside)) {
      zero.cases.push_back(std::move(*absurd));
      continue;
    }
    if (isCall(*truth, Head::Kind::Positive) &&
        !mentionsInfinity(truth->arguments[0]))
      inside.values.push_back(
          {isOne, scaled(truth->arguments[0], Rational(isOne ? 1 : -1))});
    std::optional<Zero> one =
        resolve(inside, withTruth(sum, *truth, isOne), width);
    if (!one)
      return std::nullopt;
    zero.cases.push_back(std::move(*one));
  }
  return zero;
}

/// Chooses between two values of a maximum or minimum, in a fixed order, so
/// that both choices use the same truth value.
std::optional<Step> Elaborator::choiceFor(const Context &context,
                                          const Factor &factor) {
  bool isMinimum = factor.head.getKind() == Head::Kind::Min;
  for (unsigned i = 0; i < factor.branches.size(); ++i)
    for (unsigned j = i + 1; j < factor.branches.size(); ++j) {
      bool isTurned =
          str(factor.branches[j].value) < str(factor.branches[i].value);
      bool isSwapped = isTurned != isMinimum;
      Step step{.kind = Step::Kind::Choose,
                .part = isSwapped ? j : i,
                .other = isSwapped ? i : j};
      Sum trial = single(std::make_shared<const Factor>(factor));
      if (checker.apply(step, context, trial))
        return step;
    }
  return std::nullopt;
}

std::optional<Step> Elaborator::expansionOf(const Context &context,
                                            const Factor &factor,
                                            Expansion what) {
  Sum trial = single(std::make_shared<const Factor>(factor));
  auto works = [&](const Step &step) {
    Sum copy = trial;
    return checker.apply(step, context, copy);
  };
  if (what == Expansion::Tanh) {
    Step step{.kind = Step::Kind::UnfoldTanh};
    return works(step) ? std::optional(step) : std::nullopt;
  }
  if (what == Expansion::Residues) {
    bool isOrdered =
        factor.kind == Factor::Kind::Reduce && factor.head != Head::Kind::Max;
    return isOrdered ? choiceFor(context, factor) : std::nullopt;
  }
  for (Step::Kind kind : {Step::Kind::SignsOfZero, Step::Kind::Magnitude,
                          Step::Kind::RootOfSquare})
    if (Step step{.kind = kind}; works(step))
      return step;
  if (factor.kind == Factor::Kind::Reduce) {
    // A magnitude inside a maximum becomes values of that maximum.
    bool isMaximum = factor.head == Head::Kind::Max;
    for (unsigned b = 0; isMaximum && b < factor.branches.size(); ++b) {
      Step step{.kind = Step::Kind::Magnitude, .path = {{0, 0, b}}};
      if (works(step))
        return step;
    }
    return choiceFor(context, factor);
  }
  if (!isCall(factor, UnaryFn::Sqrt) || factor.arguments[0].size() != 1)
    return std::nullopt;
  const Term &term = factor.arguments[0][0];
  if (!term.variables.empty() || !term.guards.empty() ||
      term.factors.size() < 2)
    return std::nullopt;
  for (unsigned f = 0; f < term.factors.size(); ++f) {
    Term rest = term;
    rest.factors.erase(rest.factors.begin() + f);
    auto needs = allOf(
        show(Need::Kind::NotNegative, 0, context, single(term.factors[f]), {}),
        show(Need::Kind::NotNegative, 0, context, {rest}, {}));
    if (needs)
      return Step{
          .kind = Step::Kind::RootOfProduct, .other = f, .need = *needs};
  }
  return std::nullopt;
}

std::optional<Zero> Elaborator::byExpansion(const Context &context,
                                            const Sum &sum, unsigned width,
                                            Expansion what) {
  Place path;
  std::optional<Step> step;
  std::optional<Place> place =
      findFactor(sum, sum, path, [&](const Factor &factor) {
        return (step = expansionOf(context, factor, what)).has_value();
      });
  if (!place)
    return std::nullopt;
  if (step->path.empty()) {
    step->term = place->back()[0];
    step->factor = place->back()[1];
    place->pop_back();
  } else {
    place->back()[2] = step->path.back()[2];
  }
  step->path = *place;
  Sum next = sum;
  if (!checker.apply(*step, context, next))
    return std::nullopt;
  std::optional<Zero> then = resolve(context, next, width);
  if (then)
    then->steps.insert(then->steps.begin(), *step);
  return then;
}

/// Two reciprocals of sums become one.
std::optional<Zero> Elaborator::byJoinedReciprocals(const Context &context,
                                                    const Sum &sum) {
  auto isOfSum = [](const Factor &factor) {
    return isCall(factor, UnaryFn::Reciprocal) &&
           factor.arguments[0].size() > 1;
  };
  Sum next = sum;
  std::vector<Step> steps;
  constexpr size_t most = 32;
  for (unsigned t = 0; t < next.size() && steps.size() < most; ++t) {
    std::vector<unsigned> places;
    for (unsigned f = 0; f < next[t].factors.size(); ++f)
      if (isOfSum(*next[t].factors[f]))
        places.push_back(f);
    if (places.size() < 2)
      continue;
    Step step{.kind = Step::Kind::JoinReciprocals,
              .term = t,
              .factor = places[0],
              .other = places[1]};
    if (!checker.apply(step, context, next))
      return std::nullopt;
    steps.push_back(std::move(step));
    --t;
  }
  if (steps.empty())
    return std::nullopt;
  std::optional<Zero> then = resolve(context, next, 0);
  if (then)
    then->steps.insert(then->steps.begin(), steps.begin(), steps.end());
  return then;
}

} // namespace mlc::elaborate
