//===- Signs.cpp - What is not 0, not negative, positive ------------------===//
//
// 1/0 is taken to be 0, so that signs of reciprocals need no condition.
//
//===----------------------------------------------------------------------===//

#include "verifier/kernel/Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;

namespace mlc::kernel {

static int signOf(const Assumed &assumed) {
  if (assumed.width > 0) // a residue has none
    return 0;
  bool isPositive =
      assumed.isPositive || (assumed.isNotNegative && assumed.isNotZero);
  return isPositive ? 2 : assumed.isNotNegative ? 1 : 0;
}

int Checker::signOf(const Context &context, const Factor &factor) {
  switch (factor.kind) {
  case Factor::Kind::Read:
    if (factor.isTruth)
      return 1;
    return factor.input < assumptions.inputs.size()
               ? kernel::signOf(assumptions.inputs[factor.input])
               : 0;
  case Factor::Kind::Parameter: {
    if (factor.parameter == infinityName)
      return 2;
    auto it = assumptions.parameters.find(factor.parameter);
    return it == assumptions.parameters.end() ? 0 : kernel::signOf(it->second);
  }
  case Factor::Kind::Number:
    if (decider.holds(context.known,
                      Formula::notNegative(factor.index[0] - Integer(1))))
      return 2;
    return decider.holds(context.known, Formula::notNegative(factor.index[0]));
  case Factor::Kind::Call:
    return factor.isTruth ? 1 : signOfCall(context, factor);
  case Factor::Kind::Reduce:
    return factor.isTruth ? 1 : signOfReduction(context, factor);
  }
  llvm_unreachable("unknown factor");
}

/// By the table of functions, which speaks of the reals alone.
int Checker::signOfFunction(const Context &context, UnaryFn function,
                            const Sum &x) {
  const ScalarFunction &facts = factsOf(function);
  bool isReciprocal = function == UnaryFn::Reciprocal;
  bool isOdd = isReciprocal || (facts.keepsZero() && facts.isMonotone());
  bool isStrict = isReciprocal || facts.growth == Growth::Increasing;
  // What the table says holds where a function is defined.
  bool isDefined = facts.isDefinedEverywhere() || isReciprocal ||
                   (facts.where.low == 0.0 && !facts.where.isOpen &&
                    facts.where.high == Span::infinity && !facts.excludesZero &&
                    isNotNegative(context, x));
  if (!isDefined)
    return 0;
  if (facts.isAlwaysPositive() || (isOdd && isStrict && isPositive(context, x)))
    return 2;
  return facts.isNeverNegative() || (isOdd && isNotNegative(context, x));
}

int Checker::signOfCall(const Context &context, const Factor &call) {
  switch (call.head.getKind()) {
  case Head::Kind::Unary: {
    std::optional<UnaryFn> function = functionOf(call);
    return function ? signOfFunction(context, *function, call.arguments[0]) : 0;
  }
  case Head::Kind::Binary:
    // x^y is positive for x > 0. A power of another type has another head.
    return call.head == BinaryFn::Pow && call.arguments.size() == 2 &&
                   isPositive(context, call.arguments[0])
               ? 2
               : 0;
  case Head::Kind::Positive:
  case Head::Kind::Zero:
  case Head::Kind::Less:
  case Head::Kind::Compare:
  case Head::Kind::Cast:
  case Head::Kind::Element:
  case Head::Kind::InRange:
  case Head::Kind::Unwritten:
  case Head::Kind::Placed:
  case Head::Kind::Joined:
    return 0;
  case Head::Kind::None:
  case Head::Kind::Max:
  case Head::Kind::Min:
  case Head::Kind::Prod:
  case Head::Kind::Any:
  case Head::Kind::All:
  case Head::Kind::Parity:
  case Head::Kind::InOrder:
  case Head::Kind::Either:
    return 0;
  }
  llvm_unreachable("unknown head");
}

int Checker::signOfReduction(const Context &context, const Factor &reduction) {
  auto signOf = [&](const Context &where, const Sum &value) {
    return isPositive(where, value) ? 2 : isNotNegative(where, value) ? 1 : 0;
  };
  // Of nothing it is 1.
  if (reduction.head == Head::Kind::Prod) {
    int least = 2;
    for (const Branch &original : reduction.branches) {
      Branch branch = renamed(original, names);
      Context inside = context;
      inside.bind(branch.variables);
      inside.assume(branch.guards);
      least = std::min(least, signOf(inside, branch.value));
    }
    return least;
  }
  if (reduction.head != Head::Kind::Max)
    return 0;
  // At least its branches that are one point.
  int best = 0;
  for (const Branch &branch : reduction.branches)
    if (branch.variables.empty() && branch.guards.empty())
      best = std::max(best, signOf(context, branch.value));
  return best;
}

bool Checker::isNotNegative(const Context &context, const Sum &sum) {
  return llvm::all_of(sum, [&](const Term &original) {
    if (original.coefficient < Rational(0))
      return false;
    Term term = renamed(original, names);
    Context inside = context;
    inside.bind(term.variables);
    inside.assume(term.guards);
    // Each is not negative, or there are two of it.
    std::vector<FactorRef> rest;
    for (const FactorRef &factor : term.factors) {
      auto twin = llvm::find_if(
          rest, [&](const FactorRef &other) { return same(*other, *factor); });
      if (twin != rest.end())
        rest.erase(twin);
      else
        rest.push_back(factor);
    }
    return llvm::all_of(rest, [&](const FactorRef &factor) {
      return signOf(inside, *factor) > 0;
    });
  });
}

bool Checker::isPositive(const Context &context, const Sum &sum) {
  return isNotNegative(context, sum) &&
         llvm::any_of(sum, [&](const Term &term) {
           return term.coefficient > Rational(0) && term.variables.empty() &&
                  term.guards.empty() &&
                  llvm::all_of(term.factors, [&](const FactorRef &factor) {
                    return signOf(context, *factor) == 2;
                  });
         });
}

//===----------------------------------------------------------------------===//
// Needs
//===----------------------------------------------------------------------===//

/// Whether a condition that is 1 is among those of `path`, or a factor of one.
static bool isAmong(const Sum &condition, ArrayRef<Sum> path) {
  return llvm::any_of(path, [&](const Sum &other) {
    if (same(condition, other))
      return true;
    // A product of truth values is 1 where all are.
    return other.size() == 1 && other[0].coefficient == Rational(1) &&
           other[0].variables.empty() && other[0].guards.empty() &&
           llvm::all_of(other[0].factors,
                        [](const FactorRef &f) { return f->isTruth; }) &&
           llvm::any_of(other[0].factors, [&](const FactorRef &factor) {
             return same(condition, single(factor));
           });
  });
}

/// The need that is given, and its value at the place that `proof` says; null
/// where it is not given there.
const Need *Checker::givenAt(const Context &context, const Shown &proof,
                             ArrayRef<Sum> path, Sum &value) {
  auto refuse = [&](const char *reason) {
    fail(reason);
    return nullptr;
  };
  if (proof.need >= given.size() || !proof.value)
    return refuse("nothing is given");
  const Need &need = given[proof.need];
  std::vector<Integer> map = proof.map;
  bool isWellFormed = map.size() == need.variables.size();
  for (Integer &integer : map)
    isWellFormed = isWellFormed && fillSlots(integer, context.scope);
  if (!isWellFormed || need.isOptional)
    return refuse("what is given is not what is needed");
  Bindings values;
  for (auto [variable, integer] : llvm::zip(need.variables, map))
    values.insert({variable, integer});
  std::vector<Formula> guards;
  for (const Formula &guard : need.guards)
    guards.push_back(substitute(guard, values));
  if (!decider.holds(context.known, Formula::all(std::move(guards))))
    return refuse("what is needed is given elsewhere");
  for (const Sum &original : need.path) {
    Sum condition = substitute(original, values, names);
    if (!isAmong(condition, path) &&
        asConstant(withTruths(context, condition)) != Rational(1))
      return refuse("what is needed is given on another path");
  }
  value = withTruths(context, substitute(need.value, values, names));
  return &need;
}

bool Checker::isGiven(Need::Kind kind, unsigned width, const Context &context,
                      const Sum &value, ArrayRef<Sum> path,
                      const Shown &proof) {
  Sum other;
  const Need *need = givenAt(context, proof, path, other);
  if (!need)
    return false;
  bool isEnough = need->kind == kind || (need->kind == Need::Kind::Positive &&
                                         kind != Need::Kind::Defined);
  bool mayNegate = kind == Need::Kind::NotZero &&
                   need->kind == Need::Kind::NotZero && need->width == 0;
  if (!isEnough || need->width != width || (proof.isNegative && !mayNegate))
    return fail("what is given is not what is needed");
  if (proof.kind == Shown::Kind::Divisor) {
    bool isProduct = kind == Need::Kind::NotZero && width == 0 &&
                     other.size() == 1 && other[0].variables.empty() &&
                     other[0].guards.empty() &&
                     proof.factor < other[0].factors.size();
    if (!isProduct)
      return fail("what is given is no product");
    // 1/0 is 0: what has an inverse that is not 0 is not 0.
    FactorRef factor = other[0].factors[proof.factor];
    other = isCall(*factor, UnaryFn::Reciprocal) ? factor->arguments[0]
                                                 : single(factor);
  }
  return isZero(context,
                add(other, scaled(value, Rational(proof.isNegative ? 1 : -1))),
                need->width, *proof.value);
}

/// By what is assumed of it, or by its sign.
bool Checker::isNotZero(unsigned width, const Context &context,
                        const Sum &value) {
  if (std::optional<Rational> number = asConstant(value); number && width > 0) {
    llvm::DynamicAPInt modulus(1);
    for (unsigned i = 0; i < width; ++i)
      modulus = modulus * llvm::DynamicAPInt(2);
    return number->den == llvm::DynamicAPInt(1) &&
           mod(number->num, modulus) != llvm::DynamicAPInt(0);
  }
  const Factor *factor = onlyFactor(value);
  bool isRead = factor && factor->kind == Factor::Kind::Read &&
                factor->input < assumptions.inputs.size() &&
                assumptions.inputs[factor->input].isNotZero &&
                assumptions.inputs[factor->input].width == width;
  if (isRead && (width == 0 || value[0].coefficient == Rational(1)))
    return true;
  // A number that is not 0 may be 0 as a residue.
  if (width > 0)
    return false;
  if (factor && factor->kind == Factor::Kind::Parameter) {
    auto it = assumptions.parameters.find(factor->parameter);
    if (it != assumptions.parameters.end() && it->second.isNotZero)
      return true;
  }
  if (factor && factor->kind == Factor::Kind::Number &&
      decider.holds(context.known,
                    Formula::negation(Formula::zero(factor->index[0]))))
    return true;
  return isPositive(context, value) ||
         isPositive(context, scaled(value, Rational(-1)));
}

/// [x > 0], or 1 less it; what is then known of x.
static std::optional<Known> knownOf(const Sum &condition) {
  auto signOf = [](const Sum &sum, const Rational &coefficient) {
    const Factor *factor = onlyFactor(sum);
    bool isSign = factor && sum[0].coefficient == coefficient &&
                  isCall(*factor, Head::Kind::Positive) &&
                  !mentionsInfinity(factor->arguments[0]);
    return isSign ? factor : nullptr;
  };
  if (const Factor *sign = signOf(condition, Rational(1)))
    return Known{true, sign->arguments[0]};
  if (condition.size() != 2 || asConstant({condition[0]}) != Rational(1))
    return std::nullopt;
  if (const Factor *sign = signOf({condition[1]}, Rational(-1)))
    return Known{false, scaled(sign->arguments[0], Rational(-1))};
  return std::nullopt;
}

Context alongPath(const Context &context, ArrayRef<Sum> path) {
  Context wider = context;
  for (const Sum &condition : path) {
    std::optional<Known> known = knownOf(condition);
    bool isNew = known && llvm::none_of(wider.values, [&](const Known &other) {
                   return other.isPositive == known->isPositive &&
                          same(other.value, known->value);
                 });
    if (isNew)
      wider.values.push_back(std::move(*known));
  }
  return wider;
}

/// In both cases of a truth value, which joins the path.
bool Checker::isShownByTruth(Need::Kind kind, unsigned width,
                             const Context &context, const Sum &value,
                             ArrayRef<Sum> path, const Shown &proof) {
  FactorRef truth = factorAt(proof.place, value);
  if (kind == Need::Kind::Defined || !truth || !truth->isTruth ||
      proof.parts.size() != 2)
    return fail("a distinction has no truth value");
  for (bool isOne : {true, false}) {
    std::vector<Sum> there = path.vec();
    there.push_back(isOne ? single(truth)
                          : add(constant(Rational(1)),
                                scaled(single(truth), Rational(-1))));
    if (!isShown(kind, width, context, withTruth(value, *truth, isOne), there,
                 proof.parts[isOne ? 0 : 1]))
      return false;
  }
  return true;
}

bool Checker::isShown(Need::Kind kind, unsigned width, const Context &outer,
                      const Sum &value, ArrayRef<Sum> path,
                      const Shown &proof) {
  constexpr unsigned maxDepth = 64;
  if (depth >= maxDepth)
    return fail("the proof is too deep");
  llvm::SaveAndRestore<unsigned> deeper(depth, depth + 1);
  Context context = alongPath(outer, path);
  switch (proof.kind) {
  case Shown::Kind::Signs:
    switch (kind) {
    case Need::Kind::NotZero:
      return isNotZero(width, context, value) || fail("a value may be 0");
    case Need::Kind::NotNegative:
      return isNotNegative(context, value) || fail("a value may be negative");
    case Need::Kind::Positive:
      return isPositive(context, value) || fail("a value may not be positive");
    case Need::Kind::Defined:
      // Nothing is needed where nothing is.
      return decider.holds(context.known, Formula::any({})) ||
             fail("signs do not make a value defined");
    }
    llvm_unreachable("unknown need");
  case Shown::Kind::Given:
  case Shown::Kind::Divisor:
    return isGiven(kind, width, context, value, path, proof);
  case Shown::Kind::Root: {
    const Factor *root = onlyFactor(value);
    if (width > 0 || kind == Need::Kind::Defined || !root ||
        !isCall(*root, UnaryFn::Sqrt) || value[0].coefficient != Rational(1) ||
        proof.parts.size() != 2)
      return fail("a value is no root");
    const Sum &argument = root->arguments[0];
    return isShown(Need::Kind::NotZero, 0, context, argument, path,
                   proof.parts[0]) &&
           isShown(Need::Kind::NotNegative, 0, context, argument, path,
                   proof.parts[1]);
  }
  case Shown::Kind::Bound:
    return width == 0 && isBounded(kind, context, value, proof);
  case Shown::Kind::Point:
    return width == 0 && kind != Need::Kind::Defined &&
           isPositiveAt(context, value, proof);
  case Shown::Kind::Truth:
    return isShownByTruth(kind, width, context, value, path, proof);
  case Shown::Kind::Inverse: {
    // 1/0 is 0.
    const Factor *inverse = onlyFactor(value);
    return (width == 0 && kind != Need::Kind::Defined && inverse &&
            isCall(*inverse, UnaryFn::Reciprocal) &&
            (kind == Need::Kind::NotZero ||
             value[0].coefficient > Rational(0)) &&
            proof.parts.size() == 1 &&
            isShown(kind, 0, context, inverse->arguments[0], path,
                    proof.parts[0])) ||
           fail("a value is no inverse");
  }
  case Shown::Kind::Product: {
    // Residues that are not 0 may have the product 0.
    bool isProduct =
        kind != Need::Kind::Defined && width == 0 && value.size() == 1 &&
        value[0].variables.empty() && value[0].guards.empty() &&
        value[0].factors.size() == proof.parts.size() &&
        (kind == Need::Kind::NotZero ? value[0].coefficient != Rational(0)
                                     : value[0].coefficient > Rational(0));
    if (!isProduct)
      return fail("a value is no product");
    for (auto [factor, part] : llvm::zip(value[0].factors, proof.parts))
      if (!isShown(kind, width, context, single(factor), path, part))
        return false;
    return true;
  }
  }
  llvm_unreachable("unknown reason");
}

} // namespace mlc::kernel
