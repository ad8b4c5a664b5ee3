//===- Normalize.cpp - Products, calls and cases of normal forms ----------===//

#include "verifier/search/Normalize.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc::verifier {

IntExpr Normalizer::freshVariable() {
  return IntExpr::symbol(context, "%" + std::to_string(numVariables++));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Gives the domain's variables new names; guards are renamed by the caller.
Substitution Normalizer::renameVariables(Domain &domain) {
  Substitution names;
  for (IntExpr &variable : domain.variables) {
    IntExpr fresh = freshVariable();
    names[variable.getSymbol().str()] = fresh;
    variable = fresh;
  }
  return names;
}

Term Normalizer::freshened(const Term &term) {
  Term result = term;
  Substitution names = renameVariables(result.domain);
  result = substitute(result, names);
  for (Factor &factor : result.factors) {
    if (factor.atom->arguments.empty() && factor.atom->branches.empty())
      continue;
    Atom atom = *factor.atom;
    for (Sum &argument : atom.arguments)
      argument = freshened(argument);
    for (Branch &branch : atom.branches)
      branch = freshened(branch);
    factor.atom = std::make_shared<const Atom>(std::move(atom));
  }
  return result;
}

Branch Normalizer::freshened(const Branch &branch) {
  Branch result = branch;
  Substitution names = renameVariables(result.domain);
  result = substitute(result, names);
  result.value = freshened(result.value);
  return result;
}

Sum Normalizer::freshened(const Sum &sum) {
  Sum result;
  for (const Term &term : sum.terms)
    result.terms.push_back(freshened(term));
  return result;
}

/// Adds a factor, merging powers; what is no single factor goes to `extra`.
void Normalizer::appendFactor(std::vector<Factor> &factors,
                              const Factor &factor, std::vector<Sum> &extra) {
  auto like = llvm::find_if(factors, [&](const Factor &f) {
    return sameAtom(*f.atom, *factor.atom);
  });
  Factor merged = factor;
  if (like != factors.end()) {
    merged.power += like->power;
    factors.erase(like);
  }
  if (merged.atom->isBoolean && merged.power > 1)
    merged.power = 1;
  if (merged.power == 0)
    return;
  const Atom &atom = *merged.atom;
  if (atom.kind == Atom::Kind::Call && atom.head.is(UnaryFn::Sqrt) &&
      merged.power / 2 != 0) {
    int half = merged.power / 2;
    extra.push_back(power(half > 0 ? atom.arguments[0]
                                   : reciprocal(atom.arguments[0], Facts()),
                          std::abs(half)));
    merged.power -= 2 * half;
  }
  if (atom.kind == Atom::Kind::Call && atom.head.is(UnaryFn::Reciprocal) &&
      merged.power < 0) {
    extra.push_back(power(atom.arguments[0], -merged.power));
    return;
  }
  if (merged.power != 0)
    factors.push_back(merged);
}

static bool mentionsAny(const Term &term, ArrayRef<IntExpr> variables) {
  bool found = false;
  walkIndices(term, [&](IntExpr e) {
    for (IntExpr v : variables)
      found |= mentions(e, v);
  });
  return found;
}

Sum Normalizer::multiply(const Term &left, const Term &right) {
  Term a = left, b = right;
  if (mentionsAny(b, a.domain.variables))
    a = freshened(a);
  if (mentionsAny(a, b.domain.variables))
    b = freshened(b);
  Term product{a.coefficient * b.coefficient, a.domain, a.factors};
  llvm::append_range(product.domain.variables, b.domain.variables);
  for (const Guard &guard : b.domain.guards)
    if (!llvm::is_contained(product.domain.guards, guard))
      product.domain.guards.push_back(guard);
  std::vector<Sum> extra;
  for (const Factor &factor : b.factors)
    appendFactor(product.factors, factor, extra);
  Sum result;
  result.terms.push_back(std::move(product));
  for (const Sum &sum : extra)
    result = multiply(result, sum);
  return result;
}

Sum Normalizer::multiply(const Sum &a, const Sum &b) {
  Sum result;
  if (!budget.check(a.terms.size() * b.terms.size()))
    return result;
  for (const Term &x : a.terms)
    for (const Term &y : b.terms)
      result = add(result, multiply(x, y));
  return result;
}

Sum Normalizer::power(const Sum &base, int exponent) {
  Sum result = constantSum(Fraction(1));
  for (int i = 0; i < exponent; ++i)
    result = multiply(result, base);
  return result;
}

Sum Normalizer::integerSum(IntExpr expr) {
  Sum result;
  for (const IndexMonomial &m : monomialsOf(expr)) {
    Term term{Fraction(m.coefficient), {}, {}};
    std::vector<Sum> extra;
    for (IntExpr atom : m.atoms)
      appendFactor(term.factors, {makeInteger(atom), 1}, extra);
    result.terms.push_back(std::move(term));
  }
  return result;
}

Fraction contentOf(const Sum &sum) {
  if (sum.isZero())
    return Fraction(1);
  llvm::DynamicAPInt num(0), den(1);
  for (const Term &term : sum.terms) {
    num = gcd(num, abs(term.coefficient.num));
    den = lcm(den, term.coefficient.den);
  }
  return Fraction(num, den);
}

Sum Normalizer::sumOver(const Domain &domain, const Sum &body) {
  Sum result;
  for (const Term &term : body.terms) {
    Term summed = term;
    summed.domain.variables.insert(summed.domain.variables.begin(),
                                   domain.variables.begin(),
                                   domain.variables.end());
    for (const Guard &guard : domain.guards)
      if (!llvm::is_contained(summed.domain.guards, guard))
        summed.domain.guards.push_back(guard);
    result.terms.push_back(std::move(summed));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Cases and calls
//===----------------------------------------------------------------------===//

static bool isFreeIn(const Guard &guard, const Term &term) {
  return llvm::none_of(term.domain.variables,
                       [&](IntExpr v) { return mentions(guard, v); });
}

/// `value` where `facts` hold: implied guards vanish, refuted terms too.
static Sum assume(const Sum &value, const Facts &facts) {
  Sum result;
  for (const Term &term : value.terms) {
    Term kept = term;
    bool isEmpty = false;
    llvm::erase_if(kept.domain.guards, [&](const Guard &guard) {
      if (!isFreeIn(guard, term))
        return false;
      isEmpty |= facts.refutes(guard);
      return facts.implies(guard);
    });
    if (!isEmpty)
      result = add(result, Sum{{std::move(kept)}});
  }
  return result;
}

Sum Normalizer::mapCases(const Sum &value, const Facts &facts, CaseFn fn) {
  if (!budget.check())
    return {};
  Sum known = assume(value, facts);
  for (const Term &term : known.terms)
    for (const Guard &guard : term.domain.guards) {
      if (!isFreeIn(guard, term))
        continue;
      Guard otherwise = guard.negated();
      Sum yes = mapCases(known, facts.with({guard}), fn);
      Sum no = mapCases(known, facts.with({otherwise}), fn);
      return add(guarded(std::move(yes), {guard}),
                 guarded(std::move(no), {otherwise}));
    }
  return fn(known, facts);
}

Sum Normalizer::call(const Head &function, std::vector<Sum> arguments,
                     const Facts &facts, bool isBoolean) {
  std::vector<Sum> done;
  std::function<Sum(size_t, const Facts &)> next = [&](size_t i,
                                                       const Facts &known) {
    if (i == arguments.size())
      return atomSum(makeCall(function, done, isBoolean));
    return mapCases(arguments[i], known, [&](const Sum &x, const Facts &f) {
      done.push_back(x);
      Sum result = next(i + 1, f);
      done.pop_back();
      return result;
    });
  };
  return next(0, facts);
}

bool leadsNegative(const Sum &sum) {
  std::string first;
  bool isNegative = false;
  for (Term term : sum.terms) {
    bool minus = term.coefficient < Fraction(0);
    if (minus)
      term.coefficient = -term.coefficient;
    std::string text = str(term);
    if (first.empty() || text < first) {
      first = std::move(text);
      isNegative = minus;
    }
  }
  return isNegative;
}

/// Whether the negative of a sum is the one to write: more of its terms are
/// positive, or its text is smaller.
static bool isMirrored(const Sum &sum) {
  size_t positive = llvm::count_if(sum.terms, [](const Term &term) {
    return term.coefficient > Fraction(0);
  });
  if (2 * positive != sum.terms.size())
    return 2 * positive < sum.terms.size();
  return leadsNegative(sum);
}

std::optional<Sum> Normalizer::withoutZero(const Atom &atom,
                                           const Facts &facts) {
  if (atom.kind != Atom::Kind::Reduce || !atom.head.is(Head::Kind::Max))
    return std::nullopt;
  std::vector<Branch> rest = atom.branches;
  // Over whatever points: of none, it never was there.
  llvm::erase_if(rest,
                 [](const Branch &branch) { return branch.value.isZero(); });
  if (rest.empty() || rest.size() == atom.branches.size())
    return std::nullopt;
  return reduce(Head::Kind::Max, std::move(rest), facts);
}

/// What a divisor is where it is not 0, in fewer words: f(max(x, 0)) is f(x)
/// there, for the identity and functions like tanh. Nothing where it is as it
/// stands.
std::optional<Sum> Normalizer::nonZeroForm(const Factor &factor,
                                           const Facts &facts) {
  if (factor.power < 1)
    return std::nullopt;
  std::optional<Sum> base = withoutZero(*factor.atom, facts);
  const ScalarFunction *f = factor.atom->head.getFacts();
  if (f && f->isSigmoidal()) {
    const Sum &argument = factor.atom->arguments[0];
    bool isPlain = argument.terms.size() == 1 &&
                   argument.terms[0].factors.size() == 1 &&
                   argument.terms[0].domain.variables.empty() &&
                   argument.terms[0].domain.guards.empty();
    base = isPlain ? nonZeroForm(argument.terms[0].factors[0], facts)
                   : std::nullopt;
    if (base)
      base = apply(factor.atom->head,
                   {scaled(*base, argument.terms[0].coefficient)}, facts);
  }
  if (!base)
    return std::nullopt;
  return power(*base, factor.power);
}

Sum Normalizer::reciprocal(const Sum &x, const Facts &facts) {
  return mapCases(x, facts, [&](const Sum &value, const Facts &known) {
    if (value.terms.size() != 1 ||
        !value.terms.front().domain.variables.empty() ||
        !value.terms.front().domain.guards.empty()) {
      // What does not vary inside a sum of one term stands outside.
      Sum inside = scaled(value, Fraction(1) / contentOf(value));
      Sum outside = constantSum(Fraction(1) / contentOf(value));
      // 1 / (b - a) = -1 / (a - b): one of both stands.
      if (isMirrored(inside)) {
        inside = negated(inside);
        outside = negated(outside);
      }
      if (inside.terms.size() == 1) {
        Term &term = inside.terms.front();
        for (size_t i = term.factors.size(); i-- > 0;) {
          Factor factor = term.factors[i];
          if (llvm::any_of(term.domain.variables, [&](IntExpr v) {
                return mentions(*factor.atom, v);
              }))
            continue;
          term.factors.erase(term.factors.begin() + i);
          outside = multiply(outside, atomSum(factor.atom, -factor.power));
        }
      }
      return multiply(outside,
                      atomSum(makeCall(UnaryFn::Reciprocal, {inside})));
    }
    Term inverse = value.terms.front();
    inverse.coefficient = Fraction(1) / inverse.coefficient;
    std::vector<Sum> extra;
    std::vector<Factor> factors;
    for (Factor &factor : inverse.factors)
      if (std::optional<Sum> divisor = nonZeroForm(factor, known))
        extra.push_back(reciprocal(*divisor, known));
      else
        appendFactor(factors, {factor.atom, -factor.power}, extra);
    inverse.factors = std::move(factors);
    Sum result{{inverse}};
    for (const Sum &sum : extra)
      result = multiply(result, sum);
    return result;
  });
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// 0, and what guards on `variable` alone say is its least.
static llvm::SmallVector<IntExpr, 2>
leastValues(IntExpr variable, const Domain &domain, const Facts &facts) {
  llvm::SmallVector<IntExpr, 2> values{
      IntExpr::constant(variable.getContext(), 0)};
  for (const Guard &guard : domain.guards) {
    IntExpr least = variable - guard.expr;
    bool isFree = llvm::none_of(domain.variables,
                                [&](IntExpr v) { return mentions(least, v); });
    // Variables are never negative.
    if (guard.kind == Guard::Kind::NonNegative && isFree &&
        facts.provesNonNegative(least))
      values.push_back(least);
  }
  return values;
}

bool isNeverEmpty(const Domain &domain, const Facts &facts) {
  constexpr size_t mostPoints = 16;
  std::vector<Substitution> points(1);
  for (IntExpr variable : domain.variables) {
    std::vector<Substitution> next;
    for (IntExpr value : leastValues(variable, domain, facts))
      for (const Substitution &point : points) {
        if (next.size() == mostPoints)
          break;
        next.push_back(point);
        next.back()[variable.getSymbol().str()] = value;
      }
    points = std::move(next);
  }
  return llvm::any_of(points, [&](const Substitution &point) {
    return llvm::all_of(domain.guards, [&](const Guard &guard) {
      return facts.implies({guard.kind, substitute(guard.expr, point)});
    });
  });
}

/// Of a call: 2: positive, 1: not negative, 0: unknown.
int Normalizer::signOfCall(const Atom &atom, const Facts &facts) const {
  const ScalarFunction *f = atom.head.getFacts();
  if (!f)
    return atom.isBoolean ? 1 : 0;
  if (f->isAlwaysPositive())
    return 2;
  const Sum &x = atom.arguments[0];
  // Where a reciprocal is defined, what is not negative is positive.
  if (atom.head.is(UnaryFn::Reciprocal))
    return isNonNegative(x, facts) ? 2 : 0;
  bool hasSign = f->keepsZero() && f->isMonotone();
  if (hasSign && f->growth == Growth::Increasing && isPositive(x, facts))
    return 2;
  return f->isNeverNegative() || (hasSign && isNonNegative(x, facts)) ? 1 : 0;
}

/// 2: positive, 1: not negative, 0: unknown.
int Normalizer::signOf(const Atom &atom, const Facts &facts) const {
  auto ofValue = [](const ValueFacts &v) {
    return v.positive ? 2 : v.nonNegative ? (v.nonZero ? 2 : 1) : 0;
  };
  switch (atom.kind) {
  case Atom::Kind::Read:
    if (atom.isBoolean)
      return 1;
    return atom.tensor < settings.inputs.size()
               ? ofValue(settings.inputs[atom.tensor])
               : 0;
  case Atom::Kind::Real: {
    if (atom.name == infinity)
      return 2;
    auto it = settings.reals.find(atom.name);
    return it == settings.reals.end() ? 0 : ofValue(it->second);
  }
  case Atom::Kind::Integer:
    return facts.provesPositive(atom.index[0])      ? 2
           : facts.provesNonNegative(atom.index[0]) ? 1
                                                    : 0;
  case Atom::Kind::Call:
    return signOfCall(atom, facts);
  case Atom::Kind::Reduce: {
    if (!atom.head.is(Head::Kind::Max))
      return 0;
    int best = 0;
    for (const Branch &branch : atom.branches) {
      if (!isNeverEmpty(branch.domain, facts))
        continue;
      Facts inside = facts.with(branch.domain.guards);
      best = std::max(best, isPositive(branch.value, inside)      ? 2
                            : isNonNegative(branch.value, inside) ? 1
                                                                  : 0);
    }
    return best;
  }
  }
  llvm_unreachable("unknown atom");
}

bool Normalizer::isNonNegative(const Sum &sum, const Facts &facts) const {
  return llvm::all_of(sum.terms, [&](const Term &term) {
    Facts known = facts.with(term.domain.guards);
    return term.coefficient >= Fraction(0) &&
           llvm::all_of(term.factors, [&](const Factor &f) {
             return f.power % 2 == 0 || signOf(*f.atom, known) > 0;
           });
  });
}

bool Normalizer::isPositive(const Sum &sum, const Facts &facts) const {
  if (!isNonNegative(sum, facts))
    return false;
  return llvm::any_of(sum.terms, [&](const Term &term) {
    return term.coefficient > Fraction(0) && term.domain.variables.empty() &&
           term.domain.guards.empty() &&
           llvm::all_of(term.factors, [&](const Factor &f) {
             return signOf(*f.atom, facts) == 2;
           });
  });
}

} // namespace mlc::verifier
