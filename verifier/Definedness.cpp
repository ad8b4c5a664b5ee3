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
    // An index that is not 0 may be 0 modulo 2^w.
    if (other.kind != Obligation::Kind::NonZero ||
        mlir::isa<mlir::IntegerType>(other.type))
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

/// A residue is not 0 where it is a number that is not, multiplied by something
/// odd, or where a product of it was not 0. Products of others may vanish.
bool Prover::isNonZeroResidue(const Obligation &obligation, const Sum &value,
                              ArrayRef<Obligation> known, const Facts &inside) {
  IntegerKind kind = *integerKindOf(obligation.type);
  Sum residue = wrapped(value, kind);
  if (std::optional<Fraction> constant = asConstant(residue))
    return *constant != Fraction(0);
  std::vector<Branch> given;
  for (const Obligation &other : known) {
    if (other.kind != Obligation::Kind::NonZero ||
        other.type != obligation.type)
      continue;
    Facts there = inside.with(other.domain.guards);
    collectNonZero({other.domain, n.simplify(other.value, there)}, there,
                   given);
  }
  ArrayRef<Factor> factors = factorsOf(residue);
  bool isOdd = !factors.empty() &&
               residue.terms[0].coefficient.num % llvm::DynamicAPInt(2) !=
                   llvm::DynamicAPInt(0);
  if (isOdd && factors.size() == 1 && factors[0].power == 1) {
    const Atom &atom = *factors[0].atom;
    const auto &inputs = n.settings.inputs;
    if (atom.kind == Atom::Kind::Read && atom.tensor < inputs.size() &&
        inputs[atom.tensor].nonZero &&
        inputs[atom.tensor].type == obligation.type)
      return true;
    if (coversBranch({obligation.domain, atomSum(factors[0].atom)}, given,
                     inside))
      return true;
    IntExpr index;
    if (atom.kind == Atom::Kind::Integer)
      index = atom.index[0];
    // Sizes are below 2^63.
    auto isBelow = [&](IntExpr e) {
      IntExpr largest = n.integer(static_cast<int64_t>(kind.largest()));
      return holds(Guard::nonNegative(largest - e), inside,
                   "a number fits its type");
    };
    bool fits =
        index && (kind.width >= 64 || (isBelow(index) && isBelow(-index)));
    if (fits && holds(Guard::nonZero(index), inside, "a divisor is not zero"))
      return true;
  }
  return coversBranch({obligation.domain, value}, given, inside) ||
         coversBranch({obligation.domain, negated(value)}, given, inside);
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
    return integerKindOf(obligation.type)
               ? isNonZeroResidue(obligation, value, known, inside)
               : isNonZero(value, obligation.domain, known, inside);
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
