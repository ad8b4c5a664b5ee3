//===- Apply.cpp - Functions in normal form -------------------------------===//

#include "verifier/search/Integers.h"
#include "verifier/search/Normalize.h"
#include "llvm/ADT/STLExtras.h"

namespace mlc::verifier {

/// x with its leading sign and coefficient taken out, for even functions.
static Sum withoutCoefficient(const Sum &x) {
  return scaled(x, Fraction(1) / contentOf(x));
}

/// The call of `function` that a term consists of, ignoring its coefficient.
static const Atom *asPlainCall(const Term &term, UnaryFn function) {
  if (term.factors.size() != 1 || term.factors[0].power != 1 ||
      !term.domain.variables.empty() || !term.domain.guards.empty())
    return nullptr;
  const Atom &atom = *term.factors[0].atom;
  return atom.head.is(function) ? &atom : nullptr;
}

/// log of a product of exponentials: the sum of their arguments.
static std::optional<Sum> logOf(const Sum &x) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != Fraction(1) ||
      !x.terms[0].domain.variables.empty() ||
      !x.terms[0].domain.guards.empty() || x.terms[0].factors.empty())
    return std::nullopt;
  Sum result;
  for (const Factor &factor : x.terms[0].factors) {
    if (!factor.atom->head.is(UnaryFn::Exp))
      return std::nullopt;
    result =
        add(result, scaled(factor.atom->arguments[0], Fraction(factor.power)));
  }
  return result;
}

/// sqrt of a product of even powers of non-negative factors.
static std::optional<Sum> rootOf(const Sum &x, const Facts &facts,
                                 const Normalizer &n) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != Fraction(1) ||
      !x.terms[0].domain.variables.empty() || !x.terms[0].domain.guards.empty())
    return std::nullopt;
  Term root = x.terms[0];
  for (Factor &factor : root.factors) {
    if (factor.power % 2 != 0 || !n.isNonNegative(atomSum(factor.atom), facts))
      return std::nullopt;
    factor.power /= 2;
  }
  return Sum{{std::move(root)}};
}

/// |x| factor by factor; nullopt if x is not a single product of several
/// factors.
std::optional<Sum> Normalizer::absoluteProduct(const Sum &x,
                                               const Facts &facts) {
  if (x.terms.size() != 1 || !x.terms[0].domain.variables.empty() ||
      !x.terms[0].domain.guards.empty())
    return std::nullopt;
  const Term &term = x.terms[0];
  bool isAtom = term.factors.size() == 1 && term.factors[0].power == 1;
  if (term.factors.empty() || isAtom)
    return std::nullopt;
  Sum result = constantSum(contentOf(x));
  for (const Factor &factor : term.factors) {
    Sum base = atomSum(factor.atom);
    bool isPlain = factor.power % 2 == 0 || isNonNegative(base, facts);
    if (!isPlain)
      base = atomSum(makeCall(UnaryFn::Abs, {base}));
    result =
        multiply(result, atomSum(base.terms[0].factors[0].atom, factor.power));
  }
  return result;
}

/// |x|.
Sum Normalizer::magnitude(const Sum &x, const Facts &facts) {
  if (isNonNegative(x, facts))
    return x;
  if (isNonNegative(negated(x), facts))
    return negated(x);
  // |x y| = |x| |y|.
  if (std::optional<Sum> product = absoluteProduct(x, facts))
    return *product;
  // |-x| = |x|: choose the one that does not start with a minus.
  Sum plain = withoutCoefficient(x);
  if (leadsNegative(plain))
    plain = negated(plain);
  return scaled(atomSum(makeCall(UnaryFn::Abs, {plain})), contentOf(x));
}

/// exp(a + b) = exp(a) exp(b), and exp(log(a)) = a.
Sum Normalizer::exponential(const Sum &x) {
  Sum result = constantSum(Fraction(1));
  for (const Term &term : x.terms) {
    const Atom *log = asPlainCall(term, UnaryFn::Log);
    if (log && term.coefficient == Fraction(1)) {
      result = multiply(result, log->arguments[0]);
      continue;
    }
    Term plain = term;
    int power = 1;
    if (term.coefficient.den == 1 &&
        abs(term.coefficient.num) < llvm::DynamicAPInt(64)) {
      power = static_cast<int>(static_cast<int64_t>(term.coefficient.num));
      plain.coefficient = Fraction(1);
    }
    result = multiply(result,
                      atomSum(makeCall(UnaryFn::Exp, {Sum{{plain}}}), power));
  }
  return result;
}

/// [x > 0] or [x = 0].
Sum Normalizer::comparison(const Head &function, const Sum &x,
                           const Facts &facts) {
  bool isEquality = function.is(Head::Kind::Zero);
  if (std::optional<Fraction> c = asConstant(x)) {
    bool holds = isEquality ? *c == Fraction(0) : *c > Fraction(0);
    return constantSum(Fraction(holds ? 1 : 0));
  }
  if (!isEquality && isPositive(x, facts))
    return constantSum(Fraction(1));
  if (!isEquality && isNonNegative(negated(x), facts))
    return Sum();
  Sum plain = withoutCoefficient(x);
  if (isEquality && str(negated(plain)) < str(plain))
    plain = negated(plain);
  return atomSum(makeCall(function, {plain}, /*isBoolean=*/true));
}

/// A function of the reals, by its properties in the table.
Sum Normalizer::ofReal(UnaryFn function, const Sum &x, const Facts &facts) {
  const ScalarFunction &f = factsOf(function);
  auto called = [&](const Sum &argument) {
    return atomSum(makeCall(function, {argument}));
  };
  switch (function) {
  case UnaryFn::Abs:
    return magnitude(x, facts);
  case UnaryFn::Exp:
    return exponential(x);
  default:
    break;
  }
  if (x.isZero() && f.hasZero())
    return constantSum(exactFraction(f.atZero));
  std::optional<Sum> inverse = function == UnaryFn::Log ? logOf(x)
                               : function == UnaryFn::Sqrt
                                   ? rootOf(x, facts, *this)
                                   : std::nullopt;
  if (inverse) {
    return *inverse;
  }
  // f(-x) = -f(x), or f(x).
  if (f.parity == Parity::None || !leadsNegative(x))
    return called(x);
  Sum mirrored = called(negated(x));
  return f.parity == Parity::Odd ? negated(mirrored) : mirrored;
}

Sum Normalizer::apply(const Head &function, std::vector<Sum> arguments,
                      const Facts &facts, bool isBoolean) {
  if (function.getType())
    return applyInteger(function, arguments, facts, isBoolean);
  if (function.is(UnaryFn::Reciprocal))
    return reciprocal(arguments[0], facts);
  if (std::optional<UnaryFn> real = function.getFunction())
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &f) {
      return ofReal(*real, x, f);
    });
  if (function.is(Head::Kind::Positive) || function.is(Head::Kind::Zero))
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &f) {
      return comparison(function, x, f);
    });
  return call(function, std::move(arguments), facts, isBoolean);
}

} // namespace mlc::verifier
