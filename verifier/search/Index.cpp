//===- Index.cpp - Facts about integers, and what follows cheaply ---------===//

#include "verifier/search/Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

/// Divides by the common divisor of all coefficients; rounds the constant down,
/// which e >= 0 allows over the integers.
static IntExpr tighten(IntExpr expr) {
  int64_t divisor = 0;
  for (const IndexMonomial &m : monomialsOf(expr))
    if (!m.atoms.empty())
      divisor = std::gcd(divisor, m.coefficient);
  return divisor > 1 ? expr.floorDiv(divisor) : expr;
}

void Facts::addDerived(IntExpr expr) {
  if (expr.isKnownNonNegative() || llvm::is_contained(nonNegatives, expr))
    return;
  nonNegatives.push_back(expr);
  SmallVector<IndexMonomial, 4> monomials = monomialsOf(expr);
  // P - v - 1 >= 0 for v >= 0: P is positive, and so is every factor of it that
  // is not negative.
  IntExpr positive;
  int64_t constant = 0;
  unsigned positives = 0;
  for (const IndexMonomial &m : monomials) {
    if (m.atoms.empty()) {
      constant = m.coefficient;
    } else if (m.coefficient > 0) {
      ++positives;
      positive = m.toExpr(expr.getContext());
    } else if (!llvm::all_of(m.atoms, [](IntExpr atom) {
                 return atom.isKnownNonNegative();
               })) {
      return;
    }
  }
  if (constant >= 0 || positives != 1)
    return;
  IndexMonomial product = monomialOf(positive);
  for (IntExpr atom : product.atoms)
    if (atom.isKnownNonNegative())
      addDerived(atom - 1);
}

void Facts::add(const Guard &guard) {
  if (llvm::is_contained(guards, guard))
    return;
  memo = std::make_shared<Memo>();
  guards.push_back(guard);
  if (guard.kind == Guard::Kind::NonNegative)
    addDerived(tighten(guard.expr));
  if (guard.kind == Guard::Kind::Zero) {
    addDerived(guard.expr);
    addDerived(-guard.expr);
  }
  if (guard.kind == Guard::Kind::NonZero && guard.expr.isKnownNonNegative())
    addDerived(guard.expr - 1);
}

Facts Facts::with(ArrayRef<Guard> more) const {
  Facts result = *this;
  for (const Guard &guard : more)
    result.add(guard);
  return result;
}

/// The atoms of `of` that `by` lacks, if all atoms of `by` are among those of
/// `of`.
static std::optional<SmallVector<IntExpr, 3>>
quotient(const IndexMonomial &of, const IndexMonomial &by) {
  SmallVector<IntExpr, 3> rest(of.atoms);
  for (IntExpr atom : by.atoms) {
    auto *it = llvm::find(rest, atom);
    if (it == rest.end())
      return std::nullopt;
    rest.erase(it);
  }
  return rest;
}

/// Facts about the atoms of `expr` alone, as expressions >= 0.
static void collectAtomFacts(IntExpr expr,
                             llvm::function_ref<bool(IntExpr)> isPositive,
                             llvm::SmallVectorImpl<IntExpr> &facts) {
  for (const IndexMonomial &m : monomialsOf(expr))
    for (IntExpr atom : m.atoms) {
      ArrayRef<IntExpr> ops = atom.getOperands();
      if (atom.getKind() == IntExpr::Kind::Min)
        for (IntExpr op : ops)
          facts.push_back(op - atom);
      if (atom.getKind() == IntExpr::Kind::Max)
        for (IntExpr op : ops)
          facts.push_back(atom - op);
      if (atom.getKind() == IntExpr::Kind::FloorDiv && isPositive(ops[1])) {
        facts.push_back(ops[0] - ops[1] * atom);
        facts.push_back(ops[1] * atom + ops[1] - 1 - ops[0]);
      }
    }
}

/// Whether adding scale * fact's positive part cancels part of `expr`;
/// otherwise facts P - 1 >= 0 would apply everywhere.
static bool cancelsPositive(ArrayRef<IndexMonomial> of, IntExpr fact,
                            IntExpr scale) {
  for (const IndexMonomial &g : monomialsOf(fact * scale))
    for (const IndexMonomial &m : of)
      if (g.coefficient > 0 && m.coefficient > 0 && g.atoms == m.atoms)
        return true;
  return false;
}

/// The search work of this thread.
static thread_local uint64_t numSearched = 0;

uint64_t Facts::getNumSearched() { return numSearched; }

bool Facts::search(IntExpr expr, unsigned depth, unsigned &fuel) const {
  if (expr.isKnownNonNegative())
    return true;
  if (depth == 0 || fuel == 0 || (expr.isConstant() && expr.getConstant() < 0))
    return false;
  --fuel;
  ++numSearched;
  SmallVector<IndexMonomial, 4> monomials = monomialsOf(expr);
  if (monomials.size() > 24)
    return false;
  const IndexMonomial *negative = nullptr;
  for (const IndexMonomial &m : monomials)
    if (m.coefficient < 0) {
      negative = &m;
      break;
    }
  if (!negative)
    return false; // an atom of unknown sign
  SmallVector<IntExpr> atomFacts;
  auto isPositive = [&](IntExpr e) {
    return e.isKnownPositive() || llvm::is_contained(nonNegatives, e - 1);
  };
  collectAtomFacts(expr, isPositive, atomFacts);
  // expr - ratio * rest * fact has no such monomial, and is a lower bound.
  auto eliminate = [&](IntExpr fact) {
    for (const IndexMonomial &g : monomialsOf(fact)) {
      if (g.coefficient >= 0)
        continue;
      auto rest = quotient(*negative, g);
      if (!rest || llvm::any_of(*rest, [](IntExpr atom) {
            return !atom.isKnownNonNegative();
          }))
        continue;
      IntExpr scale = IntExpr::constant(expr.getContext(), 1);
      for (IntExpr atom : *rest)
        scale = scale * atom;
      if (g.atoms.empty() && !cancelsPositive(monomials, fact, scale))
        continue;
      int64_t common = std::gcd(negative->coefficient, g.coefficient);
      IntExpr next = expr * (-g.coefficient / common) -
                     fact * scale * (-negative->coefficient / common);
      if (search(next, depth - 1, fuel))
        return true;
    }
    return false;
  };
  return llvm::any_of(nonNegatives, eliminate) ||
         llvm::any_of(atomFacts, eliminate);
}

bool Facts::provesNonNegative(IntExpr expr) const {
  if (expr.isKnownNonNegative())
    return true;
  if (expr.isConstant())
    return false;
  if (auto found = memo->nonNegative.find(expr);
      found != memo->nonNegative.end())
    return found->second;
  unsigned fuel = 60;
  return memo->nonNegative[expr] = search(tighten(expr), 5, fuel);
}

bool Facts::implies(const Guard &guard) const {
  IntExpr e = guard.expr;
  if (llvm::is_contained(guards, guard))
    return true;
  switch (guard.kind) {
  case Guard::Kind::NonNegative:
    return provesNonNegative(e);
  case Guard::Kind::Zero:
    if (e.isConstant())
      return e.isConstant(0);
    return provesNonNegative(e) && provesNonNegative(-e);
  case Guard::Kind::NonZero:
    if (e.isConstant())
      return !e.isConstant(0);
    return provesPositive(e) || provesPositive(-e);
  }
  llvm_unreachable("unknown guard");
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

IntExpr Facts::simplifyFloorDiv(IntExpr e, IntExpr d) const {
  mlir::MLIRContext *context = e.getContext();
  if (d.isConstant(1))
    return e;
  IntExpr zero = IntExpr::constant(context, 0), whole = zero, rest = zero;
  auto split = [&](IntExpr by) {
    whole = rest = zero;
    for (const IndexMonomial &m : monomialsOf(e)) {
      IntExpr term = m.toExpr(context);
      std::optional<int64_t> constant = by.asConstant();
      if (constant && *constant > 0 && m.atoms.empty()) {
        whole = whole + term.floorDiv(by);
        rest = rest + (term - term.floorDiv(by) * by);
      } else if (std::optional<IntExpr> exact = term.exactDiv(by)) {
        whole = whole + *exact;
      } else {
        rest = rest + term;
      }
    }
  };
  auto restBelow = [&](IntExpr by) {
    return provesNonNegative(rest) && provesNonNegative(by - rest - 1);
  };
  split(d);
  if (rest == zero || restBelow(d))
    return whole;
  if (provesNonNegative(-rest - 1) && provesNonNegative(rest + d))
    return whole - 1;
  IntExpr outer = whole, dividend = rest;
  // floordiv(c q + r, c d) = floordiv(q, d) for 0 <= r < c and d > 0.
  IndexMonomial factors = monomialOf(d);
  if (d.getKind() != IntExpr::Kind::Add &&
      factors.atoms.size() + (factors.coefficient != 1) > 1) {
    for (IntExpr c : factors.atoms) {
      std::optional<IntExpr> others = d.exactDiv(c);
      if (!others) // the product overflows
        continue;
      e = dividend;
      split(c);
      if (whole != zero && restBelow(c) && provesPositive(*others))
        return outer + simplifyFloorDiv(whole, *others);
    }
  }
  // floordiv(floordiv(a, b) + s, d) = floordiv(a + b s, b d) for b, d > 0.
  for (const IndexMonomial &m : monomialsOf(dividend))
    if (m.coefficient == 1 && m.atoms.size() == 1 &&
        m.atoms[0].getKind() == IntExpr::Kind::FloorDiv) {
      IntExpr a = m.atoms[0].getOperands()[0], b = m.atoms[0].getOperands()[1];
      if (!provesPositive(b) || !provesPositive(d))
        continue;
      IntExpr s = dividend - m.atoms[0];
      return outer + simplifyFloorDiv(a + b * s, b * d);
    }
  return outer + dividend.floorDiv(d);
}

IntExpr Facts::simplify(IntExpr expr) const {
  if (expr.isConstant() || expr.getKind() == IntExpr::Kind::Symbol)
    return expr;
  if (auto found = memo->simplified.find(expr); found != memo->simplified.end())
    return found->second;
  IntExpr result = simplifyOperands(expr);
  return memo->simplified[expr] = result;
}

IntExpr Facts::simplifyOperands(IntExpr expr) const {
  SmallVector<IntExpr> operands;
  for (IntExpr operand : expr.getOperands())
    operands.push_back(simplify(operand));
  switch (expr.getKind()) {
  case IntExpr::Kind::Constant:
  case IntExpr::Kind::Symbol:
    return expr;
  case IntExpr::Kind::Add:
  case IntExpr::Kind::Mul: {
    IntExpr result = operands[0];
    for (IntExpr operand : ArrayRef(operands).drop_front())
      result = expr.getKind() == IntExpr::Kind::Add ? result + operand
                                                    : result * operand;
    return result;
  }
  case IntExpr::Kind::FloorDiv:
    return simplifyFloorDiv(operands[0], operands[1]);
  case IntExpr::Kind::Mod:
    return operands[0] -
           operands[1] * simplifyFloorDiv(operands[0], operands[1]);
  case IntExpr::Kind::Min:
  case IntExpr::Kind::Max: {
    bool isMin = expr.getKind() == IntExpr::Kind::Min;
    IntExpr result = operands[0];
    for (IntExpr operand : ArrayRef(operands).drop_front()) {
      if (provesNonNegative(operand - result))
        result = isMin ? result : operand;
      else if (provesNonNegative(result - operand))
        result = isMin ? operand : result;
      else
        result = isMin ? IntExpr::min(result, operand)
                       : IntExpr::max(result, operand);
    }
    return result;
  }
  }
  llvm_unreachable("unknown expression");
}

Guard Facts::simplify(const Guard &guard) const {
  Guard result{guard.kind, simplify(guard.expr)};
  if (result.kind == Guard::Kind::NonNegative)
    result.expr = tighten(result.expr);
  return result;
}

} // namespace mlc::verifier
