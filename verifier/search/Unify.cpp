//===- Unify.cpp - Maps between index spaces ------------------------------===//

#include "verifier/search/Unify.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;

namespace mlc::verifier {

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

static void collectDomains(const Domain &left, const Domain &right,
                           Equations &out) {
  llvm::append_range(out.leftInner, left.variables);
  llvm::append_range(out.rightInner, right.variables);
  llvm::append_range(out.leftGuards, left.guards);
  llvm::append_range(out.rightGuards, right.guards);
}

bool collectEquations(const Atom &left, const Atom &right, Equations &out) {
  if (headOf(left) != headOf(right) ||
      left.index.size() != right.index.size() ||
      left.arguments.size() != right.arguments.size())
    return false;
  for (auto [l, r] : llvm::zip(left.index, right.index))
    out.zeros.push_back(l - r);
  for (auto [l, r] : llvm::zip(left.arguments, right.arguments))
    if (!collectEquations(l, r, out))
      return false;
  // Branches with the same form determine the pairing; others may differ.
  std::vector<bool> used(right.branches.size());
  for (const Branch &l : left.branches)
    for (size_t j = 0; j < right.branches.size(); ++j) {
      Equations attempt = out;
      if (used[j] ||
          !collectEquations(l.value, right.branches[j].value, attempt))
        continue;
      collectDomains(l.domain, right.branches[j].domain, attempt);
      out = std::move(attempt);
      used[j] = true;
      break;
    }
  return true;
}

bool collectEquations(const Sum &left, const Sum &right, Equations &out) {
  std::vector<bool> used(right.terms.size());
  if (left.terms.size() != right.terms.size())
    return left.terms.empty() == right.terms.empty();
  for (const Term &l : left.terms) {
    std::string signature = signatureOf(l);
    bool found = false;
    for (size_t j = 0; j < right.terms.size() && !found; ++j) {
      const Term &r = right.terms[j];
      if (used[j] || signatureOf(r) != signature)
        continue;
      Equations attempt = out;
      std::vector<unsigned> partner = factorPairings(l, r).front();
      found = true;
      for (size_t i = 0; i < l.factors.size() && found; ++i)
        found = collectEquations(*l.factors[i].atom,
                                 *r.factors[partner[i]].atom, attempt);
      if (!found)
        continue;
      collectDomains(l.domain, r.domain, attempt);
      out = std::move(attempt);
      used[j] = true;
    }
    if (!found)
      return false;
  }
  return true;
}

std::vector<std::vector<unsigned>> factorPairings(const Term &left,
                                                  const Term &right) {
  std::vector<std::vector<unsigned>> result;
  std::vector<unsigned> chosen;
  std::vector<bool> used(right.factors.size());
  constexpr size_t limit = 24;
  std::function<void()> extend = [&]() {
    if (result.size() >= limit)
      return;
    if (chosen.size() == left.factors.size()) {
      result.push_back(chosen);
      return;
    }
    const Factor &l = left.factors[chosen.size()];
    for (unsigned j = 0; j < right.factors.size(); ++j) {
      const Factor &r = right.factors[j];
      if (used[j] || r.power != l.power || headOf(*r.atom) != headOf(*l.atom))
        continue;
      used[j] = true;
      chosen.push_back(j);
      extend();
      chosen.pop_back();
      used[j] = false;
    }
  };
  extend();
  return result;
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

namespace {

bool mentionsAny(IntExpr expr, ArrayRef<IntExpr> symbols) {
  return llvm::any_of(symbols, [&](IntExpr s) { return mentions(expr, s); });
}

/// u where `zero` is c (u - value) for a constant or symbolic factor c.
std::optional<IntExpr> isolate(IntExpr zero, IntExpr u) {
  IntExpr factor;
  for (const IndexMonomial &m : monomialsOf(zero)) {
    if (!llvm::is_contained(m.atoms, u)) {
      if (mentions(m.toExpr(zero.getContext()), u))
        return std::nullopt;
      continue;
    }
    if (factor)
      return std::nullopt;
    std::optional<IntExpr> quotient = m.toExpr(zero.getContext()).exactDiv(u);
    if (!quotient || mentions(*quotient, u))
      return std::nullopt;
    factor = *quotient;
  }
  if (!factor)
    return std::nullopt;
  std::optional<IntExpr> value = (u * factor - zero).exactDiv(factor);
  if (value && mentions(*value, u)) // the difference overflows
    return std::nullopt;
  return value;
}

/// The upper bounds E of u from guards E - u - 1 >= 0.
SmallVector<IntExpr, 2> extentsOf(IntExpr u, ArrayRef<Guard> guards) {
  SmallVector<IntExpr, 2> extents;
  for (const Guard &guard : guards)
    if (guard.kind == Guard::Kind::NonNegative && mentions(guard, u) &&
        !mentions(guard.expr + u, u))
      extents.push_back(guard.expr + u + 1);
  return extents;
}

/// The first of these bounds.
IntExpr extentOf(IntExpr u, ArrayRef<Guard> guards) {
  SmallVector<IntExpr, 2> extents = extentsOf(u, guards);
  return extents.empty() ? IntExpr() : extents.front();
}

/// The coefficient of a variable in a non-negativity guard; nullopt if the
/// variable occurs nonlinearly or not at all.
std::optional<IntExpr> factorIn(const Guard &guard, IntExpr variable) {
  if (guard.kind != Guard::Kind::NonNegative || !mentions(guard, variable))
    return std::nullopt;
  mlir::MLIRContext *context = variable.getContext();
  IntExpr factor = IntExpr::constant(context, 0);
  for (const IndexMonomial &m : monomialsOf(guard.expr)) {
    IntExpr term = m.toExpr(context);
    if (!mentions(term, variable))
      continue;
    std::optional<IntExpr> c = term.exactDiv(variable);
    if (!c || mentions(*c, variable))
      return std::nullopt;
    factor = factor + *c;
  }
  return factor;
}

/// The only value of a variable under two guards e - f v >= 0 and f v + f - 1 -
/// e >= 0: the quotient of e by f. nullopt if there are no such guards.
std::optional<IntExpr> quotientOf(IntExpr variable, ArrayRef<Guard> guards) {
  for (const Guard &below : guards) {
    std::optional<IntExpr> factor = factorIn(below, variable);
    if (!factor || !(-*factor).isKnownNonNegative() ||
        (*factor + 1).isConstant(0))
      continue;
    for (const Guard &above : guards)
      if (factorIn(above, variable) == -*factor &&
          below.expr + above.expr == -*factor - 1)
        return (below.expr - *factor * variable).floorDiv(-*factor);
  }
  return std::nullopt;
}

class EquationSolver {
public:
  EquationSolver(const SolveRequest &request, const Facts &facts)
      : request(request), facts(facts), zeros(request.zeros) {
    llvm::append_range(unknowns, request.wanted);
    llvm::append_range(unknowns, request.wantedInner);
  }

  std::optional<Substitution> run(bool pairByRange) {
    while (step(/*allowUnknowns=*/false) || step(/*allowUnknowns=*/true) ||
           digitStep() || quotientStep() || partStep() ||
           (pairByRange && (pairStep() || agreeStep())))
      ;
    Substitution result;
    for (IntExpr u : request.wanted) {
      auto it = values.find(u.getSymbol().str());
      if (it == values.end()) {
        if (pairByRange)
          return std::nullopt;
        continue;
      }
      IntExpr value = facts.simplify(it->second);
      // The caller chooses open variables, if it may.
      if (mentionsAny(value, request.givenInner) ||
          llvm::any_of(unknowns, [&](IntExpr open) {
            bool isChosen =
                !pairByRange && llvm::is_contained(request.wanted, open);
            return !isChosen && mentions(value, open);
          }))
        return std::nullopt;
      result[it->first] = value;
    }
    return result;
  }

private:
  void assign(IntExpr u, IntExpr value) {
    unknowns.erase(llvm::find(unknowns, u));
    Substitution one{{u.getSymbol().str(), value}};
    for (auto &entry : values)
      entry.second = substitute(entry.second, one);
    values[u.getSymbol().str()] = value;
    for (IntExpr &zero : zeros)
      zero = facts.simplify(substitute(zero, one));
  }

  bool step(bool allowUnknowns) {
    for (IntExpr zero : zeros)
      for (IntExpr u : unknowns) {
        if (!mentions(zero, u))
          continue;
        std::optional<IntExpr> value = isolate(zero, u);
        if (!value || (!allowUnknowns && mentionsAny(*value, unknowns)) ||
            mentionsAny(*value, request.givenInner))
          continue;
        // digitStep separates digits of one number.
        if (allowUnknowns && isDigitEquation(zero))
          continue;
        assign(u, *value);
        return true;
      }
    return false;
  }

  /// u + E (..) = X with 0 <= u < E; returns u, E, X and the bracket.
  struct Digits {
    IntExpr digit, extent, number, rest;
  };
  std::optional<Digits> digitsOf(IntExpr zero) {
    for (IntExpr u : unknowns)
      if (std::optional<IntExpr> value = isolate(zero, u))
        // A tile at the border has its own bound in addition to the common one.
        for (IntExpr extent : extentsOf(u, request.wantedGuards))
          if (std::optional<Digits> digits = splitBy(extent, u, *value))
            return digits;
    return std::nullopt;
  }

  std::optional<Digits> splitBy(IntExpr extent, IntExpr u, IntExpr value) {
    IntExpr zero = IntExpr::constant(value.getContext(), 0);
    Digits digits{u, extent, zero, zero};
    bool hasUnknown = false;
    for (const IndexMonomial &m : monomialsOf(value)) {
      IntExpr term = m.toExpr(value.getContext());
      if (!mentionsAny(term, unknowns)) {
        digits.number = digits.number + term;
        continue;
      }
      hasUnknown = true;
      std::optional<IntExpr> quotient = (-term).exactDiv(extent);
      if (!quotient)
        return std::nullopt;
      digits.rest = digits.rest + *quotient;
    }
    return hasUnknown ? std::optional(digits) : std::nullopt;
  }
  bool isDigitEquation(IntExpr zero) { return digitsOf(zero).has_value(); }

  bool digitStep() {
    for (IntExpr zero : zeros) {
      std::optional<Digits> d = digitsOf(zero);
      if (!d || mentionsAny(d->number, request.givenInner))
        continue;
      IntExpr quotient = facts.simplify(d->number.floorDiv(d->extent));
      zeros.push_back(d->rest - quotient);
      assign(d->digit, d->number - d->extent * quotient);
      return true;
    }
    return false;
  }

  /// Uses an equation for the quotient of an unknown in other equations: given
  /// n = k div 4 and h = k - 4 (k div 4), k is 4 n + h.
  bool quotientStep() {
    for (size_t i = 0; i < zeros.size(); ++i)
      for (const IndexMonomial &m : monomialsOf(zeros[i])) {
        bool isQuotient = m.atoms.size() == 1 &&
                          m.atoms[0].getKind() == IntExpr::Kind::FloorDiv &&
                          (m.coefficient == 1 || m.coefficient == -1) &&
                          mentionsAny(m.atoms[0], unknowns);
        if (!isQuotient)
          continue;
        IntExpr quotient = m.atoms[0];
        IntExpr value = quotient - zeros[i] * m.coefficient;
        if (mentionsAny(value, unknowns) ||
            mentionsAny(value, request.givenInner))
          continue;
        bool found = false;
        for (size_t j = 0; j < zeros.size(); ++j)
          if (j != i)
            found |= replaceAtom(zeros[j], quotient, value);
        if (found)
          return true;
      }
    return false;
  }

  static bool replaceAtom(IntExpr &expr, IntExpr atom, IntExpr value) {
    IntExpr result = IntExpr::constant(expr.getContext(), 0);
    bool found = false;
    for (const IndexMonomial &m : monomialsOf(expr)) {
      IntExpr term = IntExpr::constant(expr.getContext(), m.coefficient);
      for (IntExpr one : m.atoms) {
        found |= one == atom;
        term = term * (one == atom ? value : one);
      }
      result = result + term;
    }
    if (found)
      expr = result;
    return found;
  }

  /// A variable that no equation mentions and guards determine: the part that
  /// contains an element, if the element's index in the whole does not mention
  /// parts.
  bool partStep() {
    for (IntExpr u : unknowns) {
      if (llvm::any_of(zeros, [&](IntExpr zero) { return mentions(zero, u); }))
        continue;
      SmallVector<Guard> guards;
      for (const Guard &guard : request.wantedGuards)
        guards.push_back({guard.kind, substitute(guard.expr, values)});
      std::optional<IntExpr> quotient = quotientOf(u, guards);
      if (!quotient || mentionsAny(*quotient, unknowns) ||
          mentionsAny(*quotient, request.givenInner))
        continue;
      assign(u, facts.simplify(*quotient));
      return true;
    }
    return false;
  }

  /// Variables that no equation mentions: equal ranges, else the first one
  /// left.
  bool pairStep() {
    for (bool requireRange : {true, false})
      for (IntExpr u : unknowns) {
        if (!llvm::is_contained(request.wanted, u))
          continue;
        IntExpr extent = extentOf(u, request.wantedGuards);
        for (IntExpr g : request.given) {
          if (llvm::is_contained(paired, g))
            continue;
          bool used = llvm::any_of(values, [&](const auto &entry) {
            return mentions(entry.second, g);
          });
          if (used || (requireRange &&
                       (!extent || extent != extentOf(g, request.givenGuards))))
            continue;
          paired.push_back(g);
          assign(u, g);
          return true;
        }
      }
    return false;
  }

  /// A variable that only equations with quotients mention: the given one of
  /// the same range with which these equations hold, even if it determines
  /// others.
  bool agreeStep() {
    for (IntExpr u : unknowns) {
      if (!llvm::is_contained(request.wanted, u))
        continue;
      SmallVector<IntExpr, 2> extents = extentsOf(u, request.wantedGuards);
      for (IntExpr g : request.given) {
        Substitution one{{u.getSymbol().str(), g}};
        bool isAlike = llvm::any_of(
            extentsOf(g, request.givenGuards), [&](IntExpr extent) {
              return llvm::is_contained(extents, extent);
            });
        bool holds = llvm::all_of(zeros, [&](IntExpr zero) {
          return !mentions(zero, u) || mentionsAny(zero, request.givenInner) ||
                 mentionsAny(zero, request.wantedInner) ||
                 facts.simplify(substitute(zero, one)).isConstant(0);
        });
        if (!isAlike || !holds)
          continue;
        assign(u, g);
        return true;
      }
    }
    return false;
  }

  const SolveRequest &request;
  const Facts &facts;
  std::vector<IntExpr> zeros;
  SmallVector<IntExpr> unknowns, paired;
  Substitution values;
};

} // namespace

std::optional<Substitution> solveEquations(const SolveRequest &request,
                                           const Facts &facts,
                                           bool pairByRange) {
  return EquationSolver(request, facts).run(pairByRange);
}

std::vector<IntExpr> witnessCandidates(IntExpr variable,
                                       ArrayRef<Guard> guards) {
  IntExpr lowest = IntExpr::constant(variable.getContext(), 0), highest;
  for (const Guard &guard : guards) {
    std::optional<IntExpr> factor = factorIn(guard, variable);
    if (!factor)
      continue;
    IntExpr rest = guard.expr - *factor * variable;
    if (factor->isKnownNonNegative())
      lowest = IntExpr::max(lowest, (-rest).ceilDiv(*factor));
    else if ((-*factor).isKnownNonNegative())
      highest = highest ? IntExpr::min(highest, rest.floorDiv(-*factor))
                        : rest.floorDiv(-*factor);
  }
  std::vector<IntExpr> result{lowest};
  if (highest)
    result.push_back(highest);
  if (!lowest.isConstant(0))
    result.push_back(IntExpr::constant(variable.getContext(), 0));
  return result;
}

} // namespace mlc::verifier
