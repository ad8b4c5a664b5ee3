//===- Scalar.cpp - The normal form of one element ------------------------===//

#include "verifier/search/Scalar.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

AtomRef makeReal(StringRef name) {
  Atom atom(Atom::Kind::Real);
  atom.name = name.str();
  return std::make_shared<const Atom>(std::move(atom));
}

AtomRef makeInteger(IntExpr expr) {
  Atom atom(Atom::Kind::Integer);
  atom.index.push_back(expr);
  return std::make_shared<const Atom>(std::move(atom));
}

AtomRef makeRead(unsigned tensor, ArrayRef<IntExpr> index, bool isBoolean) {
  Atom atom(Atom::Kind::Read);
  atom.tensor = tensor;
  atom.index.assign(index.begin(), index.end());
  atom.isBoolean = isBoolean;
  return std::make_shared<const Atom>(std::move(atom));
}

AtomRef makeCall(Head function, std::vector<Sum> arguments, bool isBoolean) {
  Atom atom(Atom::Kind::Call);
  atom.head = std::move(function);
  atom.arguments = std::move(arguments);
  atom.isBoolean = isBoolean;
  return std::make_shared<const Atom>(std::move(atom));
}

AtomRef makeUninterpreted(const llvm::Twine &function,
                          std::vector<Sum> arguments, bool isBoolean) {
  return makeCall(Head::uninterpreted(function), std::move(arguments),
                  isBoolean);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Fraction exactFraction(double value) {
  int exponent = 0;
  double mantissa = std::frexp(value, &exponent);
  int64_t digits = static_cast<int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  llvm::DynamicAPInt power(1), two(2);
  for (int i = 0; i < std::abs(exponent); ++i)
    power = power * two;
  Fraction result = exponent >= 0 ? Fraction(llvm::DynamicAPInt(digits) * power)
                                  : Fraction(llvm::DynamicAPInt(digits), power);
  return mlir::presburger::reduce(result);
}

Sum constantSum(Fraction value) {
  Sum result;
  if (value != Fraction(0))
    result.terms.push_back({value, {}, {}});
  return result;
}

Sum atomSum(AtomRef atom, int power) {
  Sum result;
  result.terms.push_back({Fraction(1), {}, {{std::move(atom), power}}});
  return result;
}

Sum scaled(const Sum &sum, const Fraction &factor) {
  if (factor == Fraction(0))
    return {};
  Sum result = sum;
  for (Term &term : result.terms)
    term.coefficient = term.coefficient * factor;
  return result;
}

Sum guarded(Sum sum, ArrayRef<Guard> guards) {
  for (Term &term : sum.terms)
    for (const Guard &guard : guards)
      if (!llvm::is_contained(term.domain.guards, guard))
        term.domain.guards.push_back(guard);
  return sum;
}

Sum indicator(ArrayRef<Guard> guards) {
  return guarded(constantSum(Fraction(1)), guards);
}

std::optional<Fraction> asConstant(const Sum &sum) {
  if (sum.isZero())
    return Fraction(0);
  const Term &term = sum.terms.front();
  if (sum.terms.size() != 1 || !term.factors.empty() ||
      !term.domain.guards.empty() || !term.domain.variables.empty())
    return std::nullopt;
  return term.coefficient;
}

const Factor *asSingleFactor(const Sum &sum) {
  if (sum.terms.size() != 1)
    return nullptr;
  const Term &term = sum.terms.front();
  if (term.coefficient != Fraction(1) || !term.domain.guards.empty() ||
      !term.domain.variables.empty() || term.factors.size() != 1)
    return nullptr;
  return &term.factors.front();
}

//===----------------------------------------------------------------------===//
// Substitution and walks
//===----------------------------------------------------------------------===//

static Domain substitute(const Domain &domain, const Substitution &s) {
  Domain result;
  result.variables = domain.variables;
  for (const Guard &guard : domain.guards)
    result.guards.push_back({guard.kind, substitute(guard.expr, s)});
  return result;
}

static AtomRef substitute(const AtomRef &atom, const Substitution &s) {
  if (atom->kind == Atom::Kind::Real)
    return atom;
  Atom result = *atom;
  for (IntExpr &index : result.index)
    index = substitute(index, s);
  for (Sum &argument : result.arguments)
    argument = substitute(argument, s);
  for (Branch &branch : result.branches)
    branch = substitute(branch, s);
  return std::make_shared<const Atom>(std::move(result));
}

Term substitute(const Term &term, const Substitution &s) {
  Term result{term.coefficient, substitute(term.domain, s), {}};
  for (const Factor &factor : term.factors)
    result.factors.push_back({substitute(factor.atom, s), factor.power});
  return result;
}

Branch substitute(const Branch &branch, const Substitution &s) {
  return {substitute(branch.domain, s), substitute(branch.value, s)};
}

Sum substitute(const Sum &sum, const Substitution &s) {
  if (s.empty())
    return sum;
  Sum result;
  for (const Term &term : sum.terms)
    result.terms.push_back(substitute(term, s));
  return result;
}

static void walkDomain(const Domain &domain,
                       llvm::function_ref<void(IntExpr)> callback) {
  for (IntExpr variable : domain.variables)
    callback(variable);
  for (const Guard &guard : domain.guards)
    callback(guard.expr);
}

void walkIndices(const Atom &atom, llvm::function_ref<void(IntExpr)> callback) {
  for (IntExpr index : atom.index)
    callback(index);
  for (const Sum &argument : atom.arguments)
    walkIndices(argument, callback);
  for (const Branch &branch : atom.branches) {
    walkDomain(branch.domain, callback);
    walkIndices(branch.value, callback);
  }
}

void walkIndices(const Term &term, llvm::function_ref<void(IntExpr)> callback) {
  walkDomain(term.domain, callback);
  for (const Factor &factor : term.factors)
    walkIndices(*factor.atom, callback);
}

void walkIndices(const Sum &sum, llvm::function_ref<void(IntExpr)> callback) {
  for (const Term &term : sum.terms)
    walkIndices(term, callback);
}

bool mentions(const Atom &atom, IntExpr symbol) {
  bool found = false;
  walkIndices(atom, [&](IntExpr e) { found |= mentions(e, symbol); });
  return found;
}

bool mentions(const Sum &sum, IntExpr symbol) {
  bool found = false;
  walkIndices(sum, [&](IntExpr e) { found |= mentions(e, symbol); });
  return found;
}

//===----------------------------------------------------------------------===//
// Equality up to names
//===----------------------------------------------------------------------===//

namespace {

/// Compares two structures, renaming bound variables of the left ones to those
/// of the right ones in order of their appearance.
struct SameUpToNames {
  Substitution names;

  bool index(IntExpr a, IntExpr b) { return substitute(a, names) == b; }

  bool domain(const Domain &a, const Domain &b) {
    if (a.variables.size() != b.variables.size() ||
        a.guards.size() != b.guards.size())
      return false;
    // Siblings may bind one name, so an earlier renaming is overwritten.
    for (auto [x, y] : llvm::zip(a.variables, b.variables))
      names[x.getSymbol().str()] = y;
    std::vector<Guard> renamed;
    for (const Guard &g : a.guards)
      renamed.push_back({g.kind, substitute(g.expr, names)});
    auto contains = [](const auto &guards) {
      return [&](const Guard &g) { return llvm::is_contained(guards, g); };
    };
    return llvm::all_of(renamed, contains(b.guards)) &&
           llvm::all_of(b.guards, contains(renamed));
  }

  bool atom(const Atom &a, const Atom &b) {
    if (&a == &b && names.empty())
      return true;
    if (a.kind != b.kind || a.name != b.name || !(a.head == b.head) ||
        a.tensor != b.tensor || a.index.size() != b.index.size() ||
        a.arguments.size() != b.arguments.size() ||
        a.branches.size() != b.branches.size())
      return false;
    for (auto [x, y] : llvm::zip(a.index, b.index))
      if (!index(x, y))
        return false;
    for (auto [x, y] : llvm::zip(a.arguments, b.arguments))
      if (!sum(x, y))
        return false;
    return matchAll(
        a.branches, b.branches, [&](const Branch &x, const Branch &y) {
          return domain(x.domain, y.domain) && sum(x.value, y.value);
        });
  }

  bool term(const Term &a, const Term &b) {
    return a.coefficient == b.coefficient && body(a, b);
  }

  bool body(const Term &a, const Term &b) {
    return domain(a.domain, b.domain) &&
           matchAll(a.factors, b.factors,
                    [&](const Factor &x, const Factor &y) {
                      return x.power == y.power && atom(*x.atom, *y.atom);
                    });
  }

  bool sum(const Sum &a, const Sum &b) {
    return matchAll(a.terms, b.terms,
                    [&](const Term &x, const Term &y) { return term(x, y); });
  }

  template <typename T, typename Fn>
  bool matchAll(const std::vector<T> &a, const std::vector<T> &b, Fn same) {
    if (a.size() != b.size())
      return false;
    std::vector<bool> used(b.size());
    for (const T &x : a) {
      bool found = false;
      for (size_t j = 0; j < b.size() && !found; ++j) {
        if (used[j])
          continue;
        Substitution saved = names;
        if (same(x, b[j]))
          found = used[j] = true;
        names = std::move(saved);
      }
      if (!found)
        return false;
    }
    return true;
  }
};

} // namespace

bool sameSum(const Sum &a, const Sum &b) { return SameUpToNames().sum(a, b); }
bool sameAtom(const Atom &a, const Atom &b) {
  return SameUpToNames().atom(a, b);
}

Sum add(const Sum &a, const Sum &b) {
  Sum result = a;
  for (const Term &term : b.terms) {
    auto like = llvm::find_if(result.terms, [&](const Term &other) {
      return SameUpToNames().body(term, other);
    });
    if (like == result.terms.end()) {
      result.terms.push_back(term);
      continue;
    }
    like->coefficient = like->coefficient + term.coefficient;
    if (like->coefficient != Fraction(0))
      continue;
    result.terms.erase(like);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string headOf(const Atom &atom) {
  switch (atom.kind) {
  case Atom::Kind::Read:
    return "t" + std::to_string(atom.tensor);
  case Atom::Kind::Real:
    return "p:" + atom.name;
  case Atom::Kind::Integer:
    return "int";
  case Atom::Kind::Call:
    return atom.head.getText().str() + "()";
  case Atom::Kind::Reduce:
    return atom.head.getText().str() + "{}";
  }
  llvm_unreachable("unknown atom");
}

std::string signatureOf(const Term &term) {
  std::vector<std::string> heads;
  for (const Factor &factor : term.factors)
    heads.push_back(headOf(*factor.atom) + "^" + std::to_string(factor.power));
  llvm::sort(heads);
  std::string result;
  for (const std::string &head : heads)
    result += head + " ";
  return result;
}

static void print(llvm::raw_ostream &os, const Domain &domain) {
  if (domain.variables.empty() && domain.guards.empty())
    return;
  os << "{";
  llvm::interleave(domain.variables, os, ",");
  os << " | ";
  llvm::interleave(
      domain.guards, os,
      [&](const Guard &g) {
        os << g.expr
           << (g.kind == Guard::Kind::NonNegative ? " >= 0"
               : g.kind == Guard::Kind::Zero      ? " = 0"
                                                  : " != 0");
      },
      ", ");
  os << "} ";
}

std::string str(const Atom &atom) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << headOf(atom);
  if (!atom.index.empty()) {
    os << '[';
    llvm::interleave(atom.index, os, ", ");
    os << ']';
  }
  for (const Sum &argument : atom.arguments)
    os << '(' << str(argument) << ')';
  for (const Branch &branch : atom.branches) {
    os << '<';
    print(os, branch.domain);
    os << str(branch.value) << '>';
  }
  return text;
}

std::string str(const Term &term) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << term.coefficient.num;
  if (term.coefficient.den != 1)
    os << '/' << term.coefficient.den;
  os << ' ';
  print(os, term.domain);
  for (const Factor &factor : term.factors) {
    os << str(*factor.atom);
    if (factor.power != 1)
      os << '^' << factor.power;
    os << ' ';
  }
  return text;
}

std::string str(const Sum &sum) {
  std::string text;
  for (const Term &term : sum.terms)
    text += (text.empty() ? "" : "+ ") + str(term);
  return text.empty() ? "0" : text;
}

} // namespace mlc::verifier
