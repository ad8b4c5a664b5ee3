//===- Definedness.cpp - Is a divisor not zero, a root defined? -----------===//
//
// What the after side divides by, takes roots or logarithms of must be fine
// where it is fine before: by the signs of its factors, by what is known of
// integers and inputs, because a selection around it says so, or because the
// before side divides by it too, under no more selections than these.
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
  const ScalarFunction *f = atom.head.getFacts();
  return f && f->vanishesAtZeroOnly();
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

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

/// A value together with what must hold for it to be of interest; the value
/// alone when that is nothing.
static Sum when(const Sum &value, ArrayRef<Sum> path) {
  if (path.empty())
    return value;
  std::vector<Sum> parts{value};
  llvm::append_range(parts, path);
  return atomSum(makeUninterpreted("@when", std::move(parts)));
}

/// Whether the value is given for some of what holds where it is wanted.
bool Prover::isGiven(const Sum &value, const Obligation &wanted,
                     ArrayRef<Branch> given, const Facts &facts) {
  constexpr size_t deepest = 4;
  size_t depth = std::min(wanted.path.size(), deepest);
  for (unsigned subset = 0; subset < 1u << depth; ++subset) {
    std::vector<Sum> path;
    for (size_t i = 0; i < depth; ++i)
      if (subset >> i & 1)
        path.push_back(wanted.path[i]);
    if (coversBranch({wanted.domain, when(value, path)}, given, facts))
      return true;
  }
  return false;
}

/// Truth values that are 1 where one is.
static std::vector<Sum> impliedBy(const Sum &truth) {
  std::vector<Sum> result{truth};
  if (truth.terms.size() != 1 || truth.terms[0].coefficient != Fraction(1))
    return result;
  const Term &term = truth.terms[0];
  bool isProduct = term.factors.size() > 1 && term.domain.variables.empty() &&
                   term.domain.guards.empty();
  if (isProduct)
    for (const Factor &factor : term.factors)
      if (factor.atom->isBoolean)
        result.push_back(atomSum(factor.atom));
  return result;
}

/// Whether a selection around it compares the value with 0.
bool Prover::followsFromPath(Obligation::Kind kind, const Sum &value,
                             const Obligation &wanted, const Facts &inside) {
  if (wanted.path.empty() || kind == Obligation::Kind::Defined)
    return false;
  bool isModular =
      mlir::isa<mlir::IntegerType>(wanted.type) && !wanted.type.isInteger(1);
  auto test = [&](Head::Kind kind, const Sum &x) {
    return n.apply(Head(kind, isModular ? wanted.type : mlir::Type()), {x},
                   inside, /*isBoolean=*/true);
  };
  auto isFalse = [&](const Sum &truth) {
    return add(constantSum(Fraction(1)), negated(truth));
  };
  std::vector<Sum> any;
  if (kind == Obligation::Kind::NonZero)
    any.push_back(isFalse(test(Head::Kind::Zero, value)));
  if (!isModular) {
    any.push_back(test(Head::Kind::Positive, value));
    if (kind == Obligation::Kind::NonZero)
      any.push_back(test(Head::Kind::Positive, negated(value)));
    if (kind == Obligation::Kind::NonNegative)
      any.push_back(isFalse(test(Head::Kind::Positive, negated(value))));
  }
  for (const Sum &around : wanted.path)
    for (const Sum &truth : impliedBy(n.simplify(around, inside)))
      if (llvm::any_of(any, [&](const Sum &x) {
            return !x.isZero() && equal(truth, x, inside);
          }))
        return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Obligations
//===----------------------------------------------------------------------===//

/// What is not 0 where `known` holds, on the same path.
void Prover::collectGiven(const Obligation &known, const Facts &inside,
                          std::vector<Branch> &out) {
  Facts there = inside.with(known.domain.guards);
  size_t first = out.size();
  collectNonZero({known.domain, n.simplify(known.value, there)}, there, out);
  for (size_t i = first; i < out.size(); ++i)
    out[i].value = when(out[i].value, known.path);
}

/// A product is not zero when no factor is; what is known not to be zero has no
/// factor that is.
bool Prover::isNonZero(const Sum &value, const Obligation &wanted,
                       ArrayRef<Obligation> known, const Facts &inside) {
  auto isSigned = [&](const Sum &sum) {
    return n.isPositive(sum, inside) || n.isPositive(negated(sum), inside);
  };
  if (isSigned(value) ||
      followsFromPath(Obligation::Kind::NonZero, value, wanted, inside))
    return true;
  std::vector<Branch> given;
  for (const Obligation &other : known) {
    // An index that is not 0 may be 0 modulo 2^w.
    if (other.kind != Obligation::Kind::NonZero ||
        mlir::isa<mlir::IntegerType>(other.type))
      continue;
    collectGiven(other, inside, given);
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
    if (isGiven(base, wanted, given, inside) ||
        followsFromPath(Obligation::Kind::NonZero, base, wanted, inside))
      return true;
    return hasZerosOfArgument(atom) &&
           isNonZero(atom.arguments[0], wanted, known, inside);
  };
  ArrayRef<Factor> factors = factorsOf(value);
  if (!factors.empty() && llvm::all_of(factors, isFactorNonZero))
    return true;
  return isGiven(value, wanted, given, inside) ||
         isGiven(negated(value), wanted, given, inside);
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
    collectGiven(other, inside, given);
  }
  if (followsFromPath(Obligation::Kind::NonZero, residue, obligation, inside))
    return true;
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
    if (isGiven(atomSum(factors[0].atom), obligation, given, inside))
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
  return isGiven(value, obligation, given, inside) ||
         isGiven(negated(value), obligation, given, inside);
}

bool Prover::holds(const Obligation &obligation, ArrayRef<Obligation> known,
                   const Facts &facts) {
  Facts inside = facts.with(obligation.domain.guards);
  Sum value = n.simplify(obligation.value, inside);
  std::vector<Branch> given;
  for (const Obligation &other : known)
    if (other.kind == obligation.kind)
      given.push_back({other.domain, when(other.value, other.path)});
  switch (obligation.kind) {
  case Obligation::Kind::NonZero:
    return integerKindOf(obligation.type)
               ? isNonZeroResidue(obligation, value, known, inside)
               : isNonZero(value, obligation, known, inside);
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
  return followsFromPath(obligation.kind, value, obligation, inside) ||
         isGiven(value, obligation, given, facts);
}

} // namespace mlc::verifier
