//===- Apply.cpp - Functions in normal form -------------------------------===//

#include "verifier/Integers.h"
#include "verifier/Normalize.h"
#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace mlc::verifier {

/// x with its leading sign and coefficient taken out, for even functions.
static Sum withoutCoefficient(const Sum &x) {
  return scaled(x, Fraction(1) / contentOf(x));
}

/// The call of `function` that a term is but for its coefficient.
static const Atom *asPlainCall(const Term &term, StringRef function) {
  if (term.factors.size() != 1 || term.factors[0].power != 1 ||
      !term.domain.variables.empty() || !term.domain.guards.empty())
    return nullptr;
  const Atom &atom = *term.factors[0].atom;
  return atom.kind == Atom::Kind::Call && atom.name == function ? &atom
                                                                : nullptr;
}

/// log of a product of exponentials: the sum of their arguments.
static std::optional<Sum> logOf(const Sum &x) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != Fraction(1) ||
      !x.terms[0].domain.variables.empty() ||
      !x.terms[0].domain.guards.empty() || x.terms[0].factors.empty())
    return std::nullopt;
  Sum result;
  for (const Factor &factor : x.terms[0].factors) {
    if (factor.atom->kind != Atom::Kind::Call || factor.atom->name != "exp")
      return std::nullopt;
    result =
        add(result, scaled(factor.atom->arguments[0], Fraction(factor.power)));
  }
  return result;
}

/// sqrt of a product of even powers of what is not negative.
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

/// |x| factor by factor; nothing where x is not one product of several.
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
      base = atomSum(makeCall("abs", {base}));
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
  // |-x| = |x|: of both, the one that does not lead with a minus stands.
  Sum plain = withoutCoefficient(x);
  if (leadsNegative(plain))
    plain = negated(plain);
  return scaled(atomSum(makeCall("abs", {plain})), contentOf(x));
}

/// exp(a + b) = exp(a) exp(b), and exp(log(a)) = a.
Sum Normalizer::exponential(const Sum &x) {
  Sum result = constantSum(Fraction(1));
  for (const Term &term : x.terms) {
    const Atom *log = asPlainCall(term, "log");
    if (log && term.coefficient == Fraction(1)) {
      ++numCancelled;
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
    result = multiply(result, atomSum(makeCall("exp", {Sum{{plain}}}), power));
  }
  return result;
}

Sum Normalizer::apply(StringRef function, std::vector<Sum> arguments,
                      const Facts &facts, bool isBoolean) {
  if (function.contains(':'))
    return applyInteger(function, arguments, facts, isBoolean);
  if (settings.strict)
    return call(function, std::move(arguments), facts, isBoolean);
  if (function == "recip")
    return reciprocal(arguments[0], facts);
  if (function == "abs")
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &f) {
      return magnitude(x, f);
    });
  if (function == "tanh" || function == "erf")
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &) {
      // f(0) = 0, f(-x) = -f(x).
      if (x.isZero())
        return x;
      return leadsNegative(x)
                 ? negated(atomSum(makeCall(function, {negated(x)})))
                 : atomSum(makeCall(function, {x}));
    });
  // [x > 0] and [x = 0].
  if (function == "positive" || function == "zero")
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &f) {
      if (std::optional<Fraction> c = asConstant(x)) {
        bool holds = function == "zero" ? *c == Fraction(0) : *c > Fraction(0);
        return constantSum(Fraction(holds ? 1 : 0));
      }
      if (function == "positive" && isPositive(x, f))
        return constantSum(Fraction(1));
      if (function == "positive" && isNonNegative(negated(x), f))
        return Sum();
      Sum plain = withoutCoefficient(x);
      if (function == "zero" && str(negated(plain)) < str(plain))
        plain = negated(plain);
      return atomSum(makeCall(function, {plain}, /*isBoolean=*/true));
    });
  if (function == "exp")
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &) {
      return exponential(x);
    });
  if (function == "log" || function == "sqrt")
    return mapCases(arguments[0], facts, [&](const Sum &x, const Facts &f) {
      // sqrt(0) = 0; sqrt(1) is a product of nothing.
      if (function == "sqrt" && x.isZero())
        return x;
      std::optional<Sum> inverse =
          function == "log" ? logOf(x) : rootOf(x, f, *this);
      if (!inverse)
        return atomSum(makeCall(function, {x}));
      ++numCancelled;
      return *inverse;
    });
  return call(function, std::move(arguments), facts, isBoolean);
}

} // namespace mlc::verifier
