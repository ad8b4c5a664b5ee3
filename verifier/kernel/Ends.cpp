//===- Ends.cpp - Why a sum is 0, but for terms that cancel ---------------===//
//
// Distinctions, what is known of values, and what has no other value than 0
// under a function that keeps numbers apart. All of real numbers, but for
// distinctions of truth values, which any sum may have.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using llvm::ArrayRef;

namespace mlc::kernel {

/// What a step or an end may make of an element.
static constexpr size_t largestSum = 200000;

bool Checker::multiplyInto(Sum &sum, const Sum &factor) {
  if (sizeOf(sum) * sizeOf(factor) > largestSum)
    return fail("an element becomes too large");
  sum = multiply(sum, factor, names);
  return true;
}

FactorRef Checker::factorAt(ArrayRef<std::array<unsigned, 3>> place,
                            const Sum &sum) {
  std::vector<Variable> bound;
  Sum here = sum;
  for (size_t i = 0; i < place.size(); ++i) {
    auto [t, f, p] = place[i];
    if (t >= here.size() || f >= here[t].factors.size())
      break;
    Term term = renamed(here[t], names);
    llvm::append_range(bound, term.variables);
    FactorRef factor = term.factors[f];
    if (i + 1 == place.size()) {
      bool isFree = llvm::none_of(
          bound, [&](Variable v) { return mentions(*factor, v); });
      return isFree ? factor : nullptr;
    }
    if (p < factor->arguments.size()) {
      here = factor->arguments[p];
    } else if (p < factor->branches.size()) {
      Branch branch = renamed(factor->branches[p], names);
      llvm::append_range(bound, branch.variables);
      here = branch.value;
    } else {
      break;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

/// [x = 0] is [-x = 0].
static bool isTruth(const Factor &factor, const Factor &truth) {
  bool areZeros = factor.kind == Factor::Kind::Call &&
                  factor.head == truth.head && factor.arguments.size() == 1 &&
                  truth.arguments.size() == 1 &&
                  factor.head.getKind() == Head::Kind::Zero;
  return same(factor, truth) ||
         (areZeros &&
          same(scaled(factor.arguments[0], Rational(-1)), truth.arguments[0]));
}

static FactorRef withTruth(const FactorRef &factor, const Factor &truth,
                           bool isOne) {
  if (factor->arguments.empty() && factor->branches.empty())
    return factor;
  auto copy = std::make_shared<Factor>(*factor);
  for (Sum &argument : copy->arguments)
    argument = withTruth(argument, truth, isOne);
  for (Branch &branch : copy->branches)
    branch.value = withTruth(branch.value, truth, isOne);
  return copy;
}

Sum withTruth(const Sum &sum, const Factor &truth, bool isOne) {
  Sum result;
  for (const Term &term : sum) {
    Term copy = term;
    copy.factors.clear();
    bool isThere = true;
    for (const FactorRef &factor : term.factors) {
      if (!isTruth(*factor, truth))
        copy.factors.push_back(withTruth(factor, truth, isOne));
      else
        isThere = isThere && isOne;
    }
    if (isThere)
      result.push_back(std::move(copy));
  }
  return result;
}

Sum withTruths(const Context &context, Sum sum) {
  for (const auto &[truth, isOne] : context.truths)
    sum = withTruth(sum, *truth, isOne);
  return sum;
}

bool Checker::byTruth(const Context &context, const Sum &sum, unsigned width,
                      const Zero &proof) {
  FactorRef truth = factorAt(proof.place, sum);
  if (!truth || !truth->isTruth || proof.cases.size() != 2)
    return fail("a distinction has no truth value");
  Context yes = context, no = context;
  yes.truths.push_back({truth, true});
  no.truths.push_back({truth, false});
  if (isCall(*truth, Head::Kind::Positive) &&
      !mentionsInfinity(truth->arguments[0])) {
    yes.values.push_back({true, truth->arguments[0]});
    no.values.push_back({false, scaled(truth->arguments[0], Rational(-1))});
  }
  return isZero(yes, withTruth(sum, *truth, true), width, proof.cases[0]) &&
         isZero(no, withTruth(sum, *truth, false), width, proof.cases[1]);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Calls back with what is positive, or not negative, whatever the function is
/// applied to.
static void boundsOf(const Factor &factor,
                     llvm::function_ref<void(bool, Sum)> add) {
  std::optional<UnaryFn> function = functionOf(factor);
  if (!function || mentionsInfinity(factor.arguments[0]))
    return;
  const ScalarFunction &facts = factsOf(*function);
  Sum value = single(std::make_shared<const Factor>(factor));
  auto between = [&](const Sum &low, const Sum &high, bool isOpen) {
    add(isOpen, kernel::add(high, scaled(low, Rational(-1))));
  };
  const Sum &x = factor.arguments[0];
  auto moved = [](const Sum &sum, const Rational &by) {
    return kernel::add(sum, constant(by));
  };
  if (*function == UnaryFn::Floor) { // f <= x < f + 1
    between(value, x, false);
    between(x, moved(value, Rational(1)), true);
  } else if (*function == UnaryFn::Ceil) { // f - 1 < x <= f
    between(x, value, false);
    between(moved(value, Rational(-1)), x, true);
  } else if (*function == UnaryFn::RoundEven) { // |f - x| <= 1/2
    between(value, moved(x, Rational(1, 2)), false);
    between(moved(x, Rational(-1, 2)), value, false);
  } else if (facts.isDefinedEverywhere()) {
    auto whole = [](double end) {
      return constant(Rational(static_cast<int64_t>(end)));
    };
    if (std::isfinite(facts.range.low))
      between(whole(std::floor(facts.range.low)), value,
              facts.range.isOpen || !ScalarFunction::isWhole(facts.range.low));
    if (std::isfinite(facts.range.high))
      between(value, whole(std::ceil(facts.range.high)),
              facts.range.isOpen || !ScalarFunction::isWhole(facts.range.high));
  }
}

Context noted(const Context &context, const Factor &function) {
  Context wider = context;
  boundsOf(function, [&](bool isPositive, Sum value) {
    wider.values.push_back({isPositive, std::move(value)});
  });
  return wider;
}

static bool isWhole(const Factor &factor) {
  if (factor.isTruth || factor.kind == Factor::Kind::Number)
    return true;
  if (factor.kind != Factor::Kind::Call)
    return false;
  // An integer is rounded to a whole number where there is a 0.
  auto types = castOf(factor);
  return isCall(factor, UnaryFn::Floor) || isCall(factor, UnaryFn::Ceil) ||
         isCall(factor, UnaryFn::RoundEven) ||
         (types && types->first.isInteger() &&
          holdsNumbersOf(types->second, {NumberType::Kind::Truth}));
}

bool isWhole(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return term.coefficient.den == llvm::DynamicAPInt(1) &&
           llvm::all_of(term.factors, [](const FactorRef &factor) {
             return isWhole(*factor);
           });
  });
}

//===----------------------------------------------------------------------===//
// Quotients and logarithms
//===----------------------------------------------------------------------===//

/// x sum is 0, and x is not.
bool Checker::byClearing(const Context &context, const Sum &sum,
                         const Zero &proof) {
  FactorRef inverse = factorAt(proof.place, sum);
  if (!inverse || !isCall(*inverse, UnaryFn::Reciprocal) ||
      proof.cases.size() != 1 || proof.shown.size() != 1)
    return fail("there is no reciprocal");
  const Sum &divisor = inverse->arguments[0];
  if (!isShown(Need::Kind::NotZero, 0, context, divisor, {}, proof.shown[0]))
    return false;
  Sum cleared;
  for (const Term &original : sum) {
    Term term = renamed(original, names);
    auto it = llvm::find_if(term.factors, [&](const FactorRef &factor) {
      return same(*factor, *inverse);
    });
    Sum product{term};
    if (it != term.factors.end()) {
      term.factors.erase(it);
      product = {term};
    } else if (!multiplyInto(product, divisor)) {
      return false;
    }
    llvm::append_range(cleared, product);
    if (sizeOf(cleared) > largestSum)
      return fail("an element becomes too large");
  }
  return isZero(context, cleared, 0, proof.cases[0]);
}

std::vector<Logarithm> logarithmsOf(const Sum &sum, Sum &rest) {
  std::vector<Logarithm> result;
  for (const Term &term : sum) {
    const Factor *log = onlyFactor({term});
    bool isPlus = term.coefficient == Rational(1);
    if (log && isCall(*log, UnaryFn::Log) &&
        (isPlus || term.coefficient == Rational(-1)))
      result.push_back({log->arguments[0], isPlus});
    else
      rest.push_back(term);
  }
  return result;
}

/// exp is 1 at 0 alone.
bool Checker::byLogarithms(const Context &context, const Sum &sum,
                           const Zero &proof) {
  Sum over = constant(Rational(1)), under = over, rest;
  std::vector<Logarithm> logarithms = logarithmsOf(sum, rest);
  if (logarithms.size() != proof.shown.size() || proof.cases.size() != 1)
    return fail("a proof by logarithms is not well formed");
  for (auto [log, shown] : llvm::zip(logarithms, proof.shown))
    if (!isShown(Need::Kind::Positive, 0, context, log.argument, {}, shown) ||
        !multiplyInto(log.isPlus ? over : under, log.argument))
      return fail("what has a logarithm may not be positive");
  if (!rest.empty() &&
      !multiplyInto(over, single(makeCall(UnaryFn::Exp, {rest}))))
    return false;
  return isZero(context, add(over, scaled(under, Rational(-1))), 0,
                proof.cases[0]);
}

/// What is given is not 0, and is 0 here: nothing is here.
bool Checker::byAbsurdity(const Context &context, const Zero &proof) {
  if (proof.shown.size() != 1 || proof.shown[0].kind != Shown::Kind::Given ||
      !proof.shown[0].value)
    return fail("nothing is absurd");
  const Shown &shown = proof.shown[0];
  Sum value;
  const Need *need = givenAt(context, shown, {}, value);
  if (!need)
    return false;
  bool isNotZero =
      need->kind == Need::Kind::NotZero || need->kind == Need::Kind::Positive;
  return isNotZero ? isZero(context, value, need->width, *shown.value)
                   : fail("what is given may be 0");
}

bool Checker::ends(const Context &context, const Sum &sum, unsigned width,
                   const Zero &proof) {
  if (proof.kind == Zero::Kind::Truth)
    return byTruth(context, sum, width, proof);
  if (proof.kind == Zero::Kind::Absurd)
    return byAbsurdity(context, proof);
  if (width > 0 || mentionsInfinity(sum))
    return fail("a fact of real numbers is used of others");
  auto isSo = [&](size_t i, Need::Kind kind, const Sum &value) {
    return isShown(kind, 0, context, value, {}, proof.shown[i]);
  };
  Sum negative = scaled(sum, Rational(-1)), one = constant(Rational(1));
  switch (proof.kind) {
  case Zero::Kind::Note: {
    FactorRef factor = factorAt(proof.place, sum);
    if (!factor || proof.cases.size() != 1)
      return fail("there is no function");
    return isZero(noted(context, *factor), sum, width, proof.cases[0]);
  }
  case Zero::Kind::Clear:
    return byClearing(context, sum, proof);
  case Zero::Kind::Logarithms:
    return byLogarithms(context, sum, proof);
  case Zero::Kind::Between:
    return (proof.shown.size() == 2 && isSo(0, Need::Kind::NotNegative, sum) &&
            isSo(1, Need::Kind::NotNegative, negative)) ||
           fail("a value may not be 0");
  case Zero::Kind::Whole:
    return (proof.shown.size() == 2 && isWhole(sum) &&
            isSo(0, Need::Kind::Positive, add(sum, one)) &&
            isSo(1, Need::Kind::Positive, add(negative, one))) ||
           fail("a whole number may not be 0");
  case Zero::Kind::Groups:
  case Zero::Kind::Truth:
  case Zero::Kind::Absurd:
    break;
  }
  llvm_unreachable("done before");
}

//===----------------------------------------------------------------------===//
// What is shown of values
//===----------------------------------------------------------------------===//

/// Whether a sum of products of what is known.
bool Checker::isBounded(Need::Kind kind, const Context &context,
                        const Sum &value, const Shown &proof) {
  if (!proof.value || kind == Need::Kind::Defined ||
      (proof.isNegative && kind != Need::Kind::NotZero))
    return fail("bounds do not show this");
  Sum total;
  bool isStrict = false;
  for (const Multiple &multiple : proof.bounds) {
    constexpr size_t mostFactors = 8;
    if (multiple.over == 0 || multiple.under == 0 ||
        multiple.known.size() > mostFactors)
      return fail("a bound is not well formed");
    Sum product = constant(Rational(int64_t(multiple.over), multiple.under));
    bool isPositive = true;
    for (unsigned place : multiple.known) {
      if (place >= context.values.size())
        return fail("there is no such bound");
      isPositive = isPositive && context.values[place].isPositive;
      if (!multiplyInto(product, context.values[place].value))
        return false;
    }
    isStrict = isStrict || isPositive;
    llvm::append_range(total, product);
  }
  if (!isStrict && kind != Need::Kind::NotNegative)
    return fail("a bound may be 0");
  return isZero(context,
                add(scaled(value, Rational(proof.isNegative ? -1 : 1)),
                    scaled(total, Rational(-1))),
                0, *proof.value);
}

/// Whether a sum that is nowhere negative is positive somewhere.
bool Checker::isPositiveAt(const Context &context, const Sum &value,
                           const Shown &proof) {
  if (proof.need >= value.size())
    return fail("there is no such term");
  Term term = renamed(value[proof.need], names);
  bool isWellFormed = proof.map.size() == term.variables.size();
  Bindings point;
  for (auto [variable, integer] : llvm::zip(term.variables, proof.map)) {
    Integer there = integer;
    isWellFormed = isWellFormed && fillSlots(there, context.scope) &&
                   there.treeSize() <= largestInteger;
    point.insert({variable, there});
  }
  std::vector<Formula> guards;
  for (const Formula &guard : term.guards)
    guards.push_back(substitute(guard, point));
  if (!isWellFormed ||
      !decider.holds(context.known, Formula::all(std::move(guards))))
    return fail("a sum may be of nothing");
  Context inside = opened(context, term);
  return (isNotNegative(context, value) && term.coefficient > Rational(0) &&
          llvm::all_of(term.factors,
                       [&](const FactorRef &factor) {
                         return signOf(inside, *factor) == 2;
                       })) ||
         fail("a value may not be positive");
}

} // namespace mlc::kernel
