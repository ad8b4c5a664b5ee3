//===- Definedness.cpp - Is a divisor not zero, a root defined? -----------===//
//
// What the after side divides by, takes roots or logarithms of must be fine
// where it is fine before: by the signs of its factors, by what is known of
// integers and inputs, or because the before side divides by it too.
//
//===----------------------------------------------------------------------===//

#include "verifier/Equality.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;

namespace mlc::verifier {

/// The factors of a value that is one product.
static ArrayRef<Factor> factorsOf(const Sum &value) {
  bool isProduct = value.terms.size() == 1 &&
                   value.terms[0].domain.variables.empty() &&
                   value.terms[0].domain.guards.empty();
  return isProduct ? ArrayRef<Factor>(value.terms[0].factors)
                   : ArrayRef<Factor>();
}

/// f(x) = 0 exactly when x = 0.
static bool hasZerosOfArgument(const Atom &atom) {
  return atom.kind == Atom::Kind::Call &&
         (atom.name == "abs" || atom.name == "sqrt" || atom.name == "tanh" ||
          atom.name == "erf");
}

/// What else is not 0 where a product is not, or a function or rectifier of it.
void Prover::collectNonZero(const Branch &known, const Facts &facts,
                            std::vector<Branch> &out) {
  out.push_back(known);
  for (const Factor &factor : factorsOf(known.value)) {
    const Atom &atom = *factor.atom;
    out.push_back({known.domain, atomSum(factor.atom)});
    if (hasZerosOfArgument(atom))
      collectNonZero({known.domain, atom.arguments[0]}, facts, out);
    if (std::optional<Sum> rest = n.withoutZero(atom, facts))
      collectNonZero({known.domain, *rest}, facts, out);
  }
}

/// A product is not zero when no factor is; what is known not to be zero has no
/// factor that is.
bool Prover::isNonZero(const Sum &value, const Domain &domain,
                       ArrayRef<Obligation> known, const Facts &inside) {
  auto isSigned = [&](const Sum &sum) {
    return n.isPositive(sum, inside) || n.isPositive(negated(sum), inside);
  };
  if (isSigned(value))
    return true;
  std::vector<Branch> given;
  for (const Obligation &other : known) {
    if (other.kind != Obligation::Kind::NonZero)
      continue;
    Facts there = inside.with(other.domain.guards);
    collectNonZero({other.domain, n.simplify(other.value, there)}, there,
                   given);
  }
  auto isFactorNonZero = [&](const Factor &factor) {
    const Atom &atom = *factor.atom;
    Sum base = atomSum(factor.atom);
    if (isSigned(base))
      return true;
    if (atom.kind == Atom::Kind::Read &&
        atom.tensor < n.settings.inputs.size() &&
        n.settings.inputs[atom.tensor].nonZero)
      return true;
    if (atom.kind == Atom::Kind::Integer &&
        holds(Guard::nonZero(atom.index[0]), inside, "a divisor is not zero"))
      return true;
    // What is known as it stands is found quickly; a search that fails is slow.
    if (coversBranch({domain, base}, given, inside))
      return true;
    return hasZerosOfArgument(atom) &&
           isNonZero(atom.arguments[0], domain, known, inside);
  };
  ArrayRef<Factor> factors = factorsOf(value);
  if (!factors.empty() && llvm::all_of(factors, isFactorNonZero))
    return true;
  return coversBranch({domain, value}, given, inside) ||
         coversBranch({domain, negated(value)}, given, inside);
}

bool Prover::holds(const Obligation &obligation, ArrayRef<Obligation> known,
                   const Facts &facts) {
  Facts inside = facts.with(obligation.domain.guards);
  Sum value = n.simplify(obligation.value, inside);
  std::vector<Branch> given;
  for (const Obligation &other : known)
    if (other.kind == obligation.kind)
      given.push_back({other.domain, other.value});
  switch (obligation.kind) {
  case Obligation::Kind::NonZero:
    return isNonZero(value, obligation.domain, known, inside);
  case Obligation::Kind::NonNegative:
    if (n.isNonNegative(value, inside))
      return true;
    break;
  case Obligation::Kind::Defined:
    break;
  case Obligation::Kind::Positive:
    if (n.isPositive(value, inside))
      return true;
    break;
  }
  return coversBranch({obligation.domain, value}, given, facts);
}

} // namespace mlc::verifier
