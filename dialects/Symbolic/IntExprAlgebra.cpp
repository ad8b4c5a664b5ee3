//===- IntExprAlgebra.cpp - Arithmetic of symbolic integers ---------------===//

#include "dialects/Symbolic/IntExpr.h"
#include "dialects/Symbolic/IntExprSize.h"
#include "dialects/Symbolic/IntExprStorage.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlc::IntExpr)

namespace mlc {

namespace {

using Kind = IntExpr::Kind;

IntExpr make(MLIRContext *context, Kind kind, ArrayRef<IntExpr> operands) {
  return IntExpr::Base::get(
      context, detail::IntExprStorage::KeyTy{kind, 0, StringRef(), operands});
}

/// Longer sums and products, and those that leave int64, are not expanded. They
/// keep their value, but two of them are equal only if they are written alike.
constexpr size_t maxTerms = IntExprSize::maxTerms, maxDegree = 256;

/// One product of a sum: coefficient times atoms in canonical order.
struct Monomial {
  int64_t coefficient;
  SmallVector<IntExpr, 2> atoms;
};

int compareAtoms(ArrayRef<IntExpr> a, ArrayRef<IntExpr> b) {
  // Higher degrees first, so that constants come last.
  if (a.size() != b.size())
    return a.size() > b.size() ? -1 : 1;
  for (auto [x, y] : llvm::zip(a, b))
    if (int order = IntExpr::compare(x, y))
      return order;
  return 0;
}

/// A sum of monomials: sorted, merged, without zeros. `overflow` is set if a
/// coefficient leaves int64 or a product is too long.
struct Polynomial {
  SmallVector<Monomial, 4> terms;
  bool overflow = false;

  explicit Polynomial(IntExpr expr) {
    if (expr.getKind() == Kind::Add) {
      for (IntExpr operand : expr.getOperands())
        terms.push_back(monomialOf(operand));
    } else if (!expr.isConstant(0)) {
      terms.push_back(monomialOf(expr));
    }
  }
  Polynomial() = default;

  static Monomial monomialOf(IntExpr expr) {
    if (expr.isConstant())
      return {expr.getConstant(), {}};
    if (expr.getKind() != Kind::Mul)
      return {1, {expr}};
    ArrayRef<IntExpr> operands = expr.getOperands();
    if (operands.front().isConstant())
      return {operands.front().getConstant(),
              SmallVector<IntExpr, 2>(operands.drop_front())};
    return {1, SmallVector<IntExpr, 2>(operands)};
  }

  void normalize() {
    llvm::sort(terms, [](const Monomial &a, const Monomial &b) {
      return compareAtoms(a.atoms, b.atoms) < 0;
    });
    SmallVector<Monomial, 4> merged;
    for (Monomial &term : terms) {
      if (!merged.empty() && merged.back().atoms == term.atoms)
        overflow |=
            llvm::AddOverflow(merged.back().coefficient, term.coefficient,
                              merged.back().coefficient);
      else
        merged.push_back(term);
    }
    llvm::erase_if(merged, [](const Monomial &m) { return !m.coefficient; });
    terms = std::move(merged);
  }

  IntExpr toExpr(MLIRContext *context) {
    SmallVector<IntExpr> sum;
    for (const Monomial &term : terms) {
      SmallVector<IntExpr> product;
      if (term.coefficient != 1 || term.atoms.empty())
        product.push_back(IntExpr::constant(context, term.coefficient));
      llvm::append_range(product, term.atoms);
      sum.push_back(product.size() == 1 ? product.front()
                                        : make(context, Kind::Mul, product));
    }
    if (sum.empty())
      return IntExpr::constant(context, 0);
    return sum.size() == 1 ? sum.front() : make(context, Kind::Add, sum);
  }
};

/// Hermite's identity: floor(x / k) + floor((x + 1) / k) + ... +
/// floor((x + k - 1) / k) = x, for every integer x and k > 0. The parts of a
/// dim that is split over k ranks are such quotients, and their sum is the dim.
class Quotients {
public:
  explicit Quotients(Polynomial &sum) : sum(sum) {}

  /// Applies the identity to all terms of the sum.
  void addUp() {
    // Where all quotients are there, one has the remainder k - 1.
    SmallVector<IntExpr> last;
    for (const Monomial &term : sum.terms)
      if (term.atoms.size() == 1 && isLast(term.atoms[0]))
        last.push_back(term.atoms[0]);
    for (IntExpr quotient : last)
      addUp(quotient);
  }

private:
  /// Whether the expression is floor((x + k - 1) / k).
  bool isLast(IntExpr expr) const {
    if (expr.getKind() != Kind::FloorDiv)
      return false;
    std::optional<int64_t> k = expr.getOperands()[1].asConstant();
    Polynomial dividend(expr.getOperands()[0]);
    return k && *k > 1 && size_t(*k) <= sum.terms.size() &&
           !dividend.terms.empty() && dividend.terms.back().atoms.empty() &&
           dividend.terms.back().coefficient == *k - 1;
  }

  int64_t coefficientOf(IntExpr atom) const {
    for (const Monomial &term : sum.terms)
      if (term.atoms.size() == 1 && term.atoms[0] == atom)
        return term.coefficient;
    return 0;
  }

  void addUp(IntExpr quotient) {
    const int64_t k = quotient.getOperands()[1].getConstant();
    const IntExpr x = quotient.getOperands()[0] - (k - 1);
    // The number of times that all are there, with the same sign.
    int64_t times = coefficientOf(quotient);
    if (times == std::numeric_limits<int64_t>::min())
      return;
    SmallVector<IntExpr> all{quotient};
    for (int64_t r = 0; r < k - 1; ++r) {
      all.push_back((x + r).floorDiv(k));
      const int64_t own = coefficientOf(all.back());
      times = times > 0 ? std::max<int64_t>(0, std::min(times, own))
                        : std::min<int64_t>(0, std::max(times, own));
      if (times == 0)
        return;
    }
    Polynomial more(x);
    for (Monomial &term : more.terms)
      sum.overflow |=
          llvm::MulOverflow(term.coefficient, times, term.coefficient);
    for (IntExpr one : all)
      more.terms.push_back({-times, {one}});
    llvm::append_range(sum.terms, more.terms);
    sum.normalize();
  }

  Polynomial &sum;
};

Polynomial multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  if (a.terms.size() * b.terms.size() > maxTerms) {
    result.overflow = true;
    return result;
  }
  for (const Monomial &x : a.terms)
    for (const Monomial &y : b.terms) {
      Monomial term{0, x.atoms};
      result.overflow |= x.atoms.size() + y.atoms.size() > maxDegree;
      if (result.overflow)
        return result;
      result.overflow |=
          llvm::MulOverflow(x.coefficient, y.coefficient, term.coefficient);
      llvm::append_range(term.atoms, y.atoms);
      llvm::sort(term.atoms, [](IntExpr p, IntExpr q) {
        return IntExpr::compare(p, q) < 0;
      });
      result.terms.push_back(std::move(term));
    }
  result.normalize();
  return result;
}

/// Splits `expr` into quotient * divisor + remainder, for a positive divisor.
std::pair<IntExpr, IntExpr> splitMultiples(IntExpr expr, int64_t divisor) {
  MLIRContext *context = expr.getContext();
  Polynomial quotient, rest;
  for (const Monomial &term : Polynomial(expr).terms) {
    if (term.atoms.empty()) {
      quotient.terms.push_back(
          {llvm::divideFloorSigned(term.coefficient, divisor), {}});
      rest.terms.push_back({llvm::mod(term.coefficient, divisor), {}});
    } else if (term.coefficient % divisor == 0) {
      quotient.terms.push_back({term.coefficient / divisor, term.atoms});
    } else {
      rest.terms.push_back(term);
    }
  }
  quotient.normalize();
  rest.normalize();
  if (quotient.overflow || rest.overflow)
    return {IntExpr::constant(context, 0), expr};
  return {quotient.toExpr(context), rest.toExpr(context)};
}

IntExpr makeMinMax(Kind kind, IntExpr a, IntExpr b) {
  // Operands of one side have been compared with each other already.
  SmallVector<IntExpr> operands;
  SmallVector<bool> isOfB;
  for (IntExpr expr : {a, b}) {
    if (expr.getKind() == kind)
      llvm::append_range(operands, expr.getOperands());
    else
      operands.push_back(expr);
    isOfB.resize(operands.size(), !isOfB.empty());
  }
  // Only by remaining operands, so that one remains even if bounds contradict
  // each other (a remainder by -1).
  auto isDominated = [&](size_t i) {
    IntExpr candidate = operands[i];
    for (auto [j, other] : llvm::enumerate(operands)) {
      if (isOfB[i] == isOfB[j])
        continue;
      if (candidate == other)
        return true;
      IntExpr difference =
          kind == Kind::Min ? candidate - other : other - candidate;
      if (difference.isKnownPositive() ||
          (difference.isKnownNonNegative() &&
           !((-difference).isKnownNonNegative() && i < j)))
        return true;
    }
    return false;
  };
  for (size_t i = 0; i < operands.size();) {
    if (!isDominated(i)) {
      ++i;
      continue;
    }
    operands.erase(operands.begin() + i);
    isOfB.erase(isOfB.begin() + i);
  }
  if (operands.size() == 1)
    return operands.front();
  llvm::sort(operands,
             [](IntExpr p, IntExpr q) { return IntExpr::compare(p, q) < 0; });
  return make(a.getContext(), kind, operands);
}

} // namespace

IntExpr IntExpr::constant(MLIRContext *context, int64_t value) {
  return Base::get(context, detail::IntExprStorage::KeyTy{
                                Kind::Constant, value, StringRef(), {}});
}

IntExpr IntExpr::symbol(MLIRContext *context, StringRef name) {
  return Base::get(context,
                   detail::IntExprStorage::KeyTy{Kind::Symbol, 0, name, {}});
}

IntExpr::Kind IntExpr::getKind() const { return getImpl()->key.kind; }
int64_t IntExpr::getConstant() const {
  assert(isConstant() && "not a constant");
  return getImpl()->key.value;
}
StringRef IntExpr::getSymbol() const { return getImpl()->key.symbol; }
ArrayRef<IntExpr> IntExpr::getOperands() const {
  return getImpl()->key.operands;
}

IntExprSize sizeOf(IntExpr expr) {
  return static_cast<const detail::IntExprStorage *>(
             static_cast<const void *>(expr.getAsOpaquePointer()))
      ->size;
}

IntExpr IntExpr::operator+(IntExpr other) const {
  Polynomial sum(*this);
  llvm::append_range(sum.terms, Polynomial(other).terms);
  if (sum.terms.size() > maxTerms)
    return make(getContext(), Kind::Add, {*this, other});
  sum.normalize();
  Quotients(sum).addUp();
  if (sum.overflow)
    return make(getContext(), Kind::Add, {*this, other});
  return sum.toExpr(getContext());
}

IntExpr IntExpr::operator*(IntExpr other) const {
  // Operands may be long products, which are not copied for each term of the
  // other.
  Polynomial a(*this), b(other);
  uint64_t nodes = uint64_t(sizeOf(*this).nodes) * b.terms.size() +
                   uint64_t(sizeOf(other).nodes) * a.terms.size();
  if (nodes > IntExprSize::maxNodes)
    return make(getContext(), Kind::Mul, {*this, other});
  Polynomial product = multiply(a, b);
  if (product.overflow)
    return make(getContext(), Kind::Mul, {*this, other});
  return product.toExpr(getContext());
}

IntExpr IntExpr::operator-() const { return *this * -1; }
IntExpr IntExpr::operator-(IntExpr other) const { return *this + -other; }
IntExpr IntExpr::operator+(int64_t other) const {
  return *this + constant(getContext(), other);
}
IntExpr IntExpr::operator-(int64_t other) const {
  return *this - constant(getContext(), other);
}
IntExpr IntExpr::operator*(int64_t other) const {
  return *this * constant(getContext(), other);
}
IntExpr IntExpr::floorDiv(int64_t divisor) const {
  return floorDiv(constant(getContext(), divisor));
}
IntExpr IntExpr::ceilDiv(int64_t divisor) const {
  return ceilDiv(constant(getContext(), divisor));
}
IntExpr IntExpr::mod(int64_t divisor) const {
  return mod(constant(getContext(), divisor));
}
IntExpr IntExpr::ceilDiv(IntExpr divisor) const {
  return -((-*this).floorDiv(divisor));
}

std::optional<IntExpr> IntExpr::exactDiv(IntExpr divisor) const {
  Polynomial by(divisor);
  if (by.terms.size() != 1)
    return divisor == *this && !isConstant(0)
               ? std::optional(constant(getContext(), 1))
               : std::nullopt;
  const Monomial &factor = by.terms.front();
  Polynomial quotient(*this);
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  for (Monomial &term : quotient.terms) {
    if (factor.coefficient == -1 ? term.coefficient == least
                                 : term.coefficient % factor.coefficient != 0)
      return std::nullopt;
    term.coefficient /= factor.coefficient;
    for (IntExpr atom : factor.atoms) {
      auto *it = llvm::find(term.atoms, atom);
      if (it == term.atoms.end())
        return std::nullopt;
      term.atoms.erase(it);
    }
  }
  quotient.normalize();
  if (quotient.overflow)
    return std::nullopt;
  return quotient.toExpr(getContext());
}

/// A division by a constant that is not positive has no value; it is kept as
/// written.
static bool hasNoValue(IntExpr divisor) {
  return divisor.isConstant() && divisor.getConstant() <= 0;
}

IntExpr IntExpr::floorDiv(IntExpr divisor) const {
  if (hasNoValue(divisor))
    return make(getContext(), Kind::FloorDiv, {*this, divisor});
  if (std::optional<int64_t> by = divisor.asConstant(); by && *by > 0) {
    auto [quotient, rest] = splitMultiples(*this, *by);
    if (rest.isConstant())
      return quotient; // 0 <= rest < divisor
    if (rest.getKind() == Kind::FloorDiv && rest.getOperands()[1].isConstant())
      return quotient +
             rest.getOperands()[0].floorDiv(rest.getOperands()[1] * divisor);
    return quotient + make(getContext(), Kind::FloorDiv, {rest, divisor});
  }
  if (std::optional<IntExpr> exact = exactDiv(divisor))
    return *exact;
  // Pull out the terms that the divisor divides.
  Polynomial whole, rest;
  for (const Monomial &term : Polynomial(*this).terms) {
    Polynomial single;
    single.terms.push_back(term);
    IntExpr expr = single.toExpr(getContext());
    if (std::optional<IntExpr> exact = expr.exactDiv(divisor))
      llvm::append_range(whole.terms, Polynomial(*exact).terms);
    else
      rest.terms.push_back(term);
  }
  whole.normalize();
  rest.normalize();
  if (whole.overflow || rest.overflow)
    return make(getContext(), Kind::FloorDiv, {*this, divisor});
  return whole.toExpr(getContext()) +
         make(getContext(), Kind::FloorDiv,
              {rest.toExpr(getContext()), divisor});
}

IntExpr IntExpr::mod(IntExpr divisor) const {
  if (hasNoValue(divisor))
    return make(getContext(), Kind::Mod, {*this, divisor});
  if (std::optional<int64_t> by = divisor.asConstant(); by && *by > 0) {
    IntExpr rest = splitMultiples(*this, *by).second;
    return rest.isConstant() ? rest
                             : make(getContext(), Kind::Mod, {rest, divisor});
  }
  if (exactDiv(divisor))
    return constant(getContext(), 0);
  return make(getContext(), Kind::Mod, {*this, divisor});
}

IntExpr IntExpr::min(IntExpr a, IntExpr b) {
  return makeMinMax(Kind::Min, a, b);
}
IntExpr IntExpr::max(IntExpr a, IntExpr b) {
  return makeMinMax(Kind::Max, a, b);
}

int IntExpr::compare(IntExpr a, IntExpr b) {
  if (a == b)
    return 0;
  if (a.getKind() != b.getKind())
    return a.getKind() < b.getKind() ? -1 : 1;
  if (a.isConstant())
    return a.getConstant() < b.getConstant() ? -1 : 1;
  if (a.getKind() == Kind::Symbol)
    return a.getSymbol().compare(b.getSymbol());
  if (a.getOperands().size() != b.getOperands().size())
    return a.getOperands().size() < b.getOperands().size() ? -1 : 1;
  for (auto [x, y] : llvm::zip(a.getOperands(), b.getOperands()))
    if (int order = compare(x, y))
      return order;
  return 0;
}

} // namespace mlc
