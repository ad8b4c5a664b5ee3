//===- Equations.cpp - Values of a rule's symbols -------------------------===//

#include "rewrites/Rules/Equations.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlc;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

bool Equations::solve() {
  for (;;) {
    if (!solveDetermined())
      return false;
    std::optional<Choice> choice = openFactor({});
    if (!choice)
      return true;
    bindings.integers[choice->symbol] = IntExpr::constant(
        pending.front().first.getContext(), choice->values.front());
  }
}

void Equations::forEachSolution(
    ArrayRef<Split> splits, llvm::function_ref<void(const Bindings &)> visit) {
  if (!solveDetermined())
    return;
  std::optional<Choice> choice = openFactor(splits);
  if (!choice) {
    if (isSolved())
      visit(bindings);
    return;
  }
  MLIRContext *context = pending.front().first.getContext();
  for (int64_t value : choice->values) {
    Bindings chosen = bindings;
    chosen.integers[choice->symbol] = IntExpr::constant(context, value);
    Equations rest(chosen);
    rest.pending = pending;
    rest.forEachSolution(splits, visit);
  }
}

/// Divisors of `n` from 1 on, at most Equations::maxFactors.
static SmallVector<int64_t> divisors(int64_t n) {
  SmallVector<int64_t> result;
  // Divisors beyond this limit are no plausible numbers of groups.
  for (int64_t d = 1;
       d <= std::min<int64_t>(n, 4096) && result.size() < Equations::maxFactors;
       ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

/// A rule holds for all values of its symbols, so any factorization of a size
/// into the required product will do.
std::optional<Equations::Choice>
Equations::openFactor(ArrayRef<Split> splits) const {
  for (auto [pattern, actual] : pending) {
    IntExpr open = bindings.substitute(pattern);
    llvm::SetVector<StringRef> unknown;
    pattern.walkSymbols([&](StringRef symbol) {
      if (!bindings.integers.count(symbol))
        unknown.insert(symbol);
    });
    bool isProduct = llvm::all_of(unknown, [&](StringRef symbol) {
      MLIRContext *context = pattern.getContext();
      return open
          .substitute([&](StringRef name) {
            return name == symbol ? IntExpr::constant(context, 0) : IntExpr();
          })
          .isConstant(0);
    });
    if (!isProduct || unknown.size() < 2)
      continue;
    Choice choice{unknown.back().str(), {1}};
    Split split{unknown.front().str(), choice.symbol};
    if (unknown.size() == 2 && llvm::is_contained(splits, split)) {
      IntExpr factor = open.substitute([&](StringRef name) {
        return unknown.contains(name)
                   ? IntExpr::constant(pattern.getContext(), 1)
                   : IntExpr();
      });
      std::optional<IntExpr> product = actual.exactDiv(factor);
      if (product && product->isConstant() && product->getConstant() > 0)
        choice.values = divisors(product->getConstant());
    }
    return choice;
  }
  return std::nullopt;
}

bool Equations::solveDetermined() {
  for (bool progress = true; progress;) {
    progress = false;
    SmallVector<std::pair<IntExpr, IntExpr>> rest;
    for (auto [pattern, actual] : pending) {
      switch (step(pattern, actual)) {
      case Outcome::Solved:
        progress = true;
        break;
      case Outcome::Contradiction:
        return false;
      case Outcome::Waiting:
        rest.push_back({pattern, actual});
      }
    }
    pending = std::move(rest);
  }
  return true;
}

Equations::Outcome Equations::step(IntExpr pattern, IntExpr actual) {
  // Split into the bound part and the one unbound symbol.
  StringRef unknown;
  bool several = false;
  pattern.walkSymbols([&](StringRef symbol) {
    if (bindings.integers.count(symbol))
      return;
    several |= !unknown.empty() && unknown != symbol;
    unknown = symbol;
  });
  if (several)
    return Outcome::Waiting;
  MLIRContext *context = pattern.getContext();
  if (unknown.empty())
    return bindings.substitute(pattern) == actual ? Outcome::Solved
                                                  : Outcome::Contradiction;
  // pattern = factor * unknown + rest, when it is linear in it.
  IntExpr symbol = IntExpr::symbol(context, unknown);
  auto at = [&](int64_t value) {
    return bindings.substitute(pattern.substitute([&](StringRef name) {
      return name == unknown ? IntExpr::constant(context, value) : IntExpr();
    }));
  };
  IntExpr rest = at(0), factor = at(1) - rest;
  if (bindings.substitute(pattern) != symbol * factor + rest)
    return Outcome::Waiting;
  std::optional<IntExpr> value = (actual - rest).exactDiv(factor);
  if (!value || !value->isKnownNonNegative())
    return Outcome::Contradiction;
  bindings.integers[unknown] = *value;
  return Outcome::Solved;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static bool comparisonHolds(ComparePredicate predicate, IntExpr difference) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return difference.isConstant(0);
  case ComparePredicate::NE:
    return difference.isKnownPositive() || (-difference).isKnownPositive();
  case ComparePredicate::LT:
    return (-difference).isKnownPositive();
  case ComparePredicate::LE:
    return (-difference).isKnownNonNegative();
  case ComparePredicate::GT:
    return difference.isKnownPositive();
  case ComparePredicate::GE:
    return difference.isKnownNonNegative();
  }
  llvm_unreachable("unknown predicate");
}

bool mlc::holds(const Condition &condition, const Bindings &bindings) {
  auto partHolds = [&](const Condition &part) { return holds(part, bindings); };
  switch (condition.getKind()) {
  case Condition::Kind::Compare:
    return comparisonHolds(condition.getPredicate(),
                           bindings.substitute(condition.getLhs()) -
                               bindings.substitute(condition.getRhs()));
  case Condition::Kind::Divides: {
    IntExpr divisor = bindings.substitute(condition.getLhs());
    IntExpr value = bindings.substitute(condition.getRhs());
    return divisor.isKnownPositive() && value.mod(divisor).isConstant(0);
  }
  case Condition::Kind::AllOf:
    return llvm::all_of(condition.getParts(), partHolds);
  case Condition::Kind::AnyOf:
    return llvm::any_of(condition.getParts(), partHolds);
  case Condition::Kind::Not:
    // Only constants are decided.
    {
      std::optional<bool> truth = condition.getParts().front().evaluate(
          [&](StringRef symbol) -> std::optional<int64_t> {
            auto it = bindings.integers.find(symbol);
            return it == bindings.integers.end() ? std::nullopt
                                                 : it->second.asConstant();
          });
      return truth && !*truth;
    }
  }
  llvm_unreachable("unknown condition");
}

bool mlc::holds(const RealAssumption &assumption, const Bindings &bindings) {
  auto it = bindings.reals.find(assumption.parameter);
  if (it == bindings.reals.end() || it->second.isSymbol())
    return false;
  double value = it->second.getDouble(), bound = assumption.bound;
  switch (assumption.predicate) {
  case ComparePredicate::EQ:
    return value == bound;
  case ComparePredicate::NE:
    return value != bound;
  case ComparePredicate::LT:
    return value < bound;
  case ComparePredicate::LE:
    return value <= bound;
  case ComparePredicate::GT:
    return value > bound;
  case ComparePredicate::GE:
    return value >= bound;
  }
  llvm_unreachable("unknown predicate");
}

bool mlc::realsFit(const Rule &rule, const Bindings &bindings) {
  return llvm::all_of(bindings.reals, [&](const auto &entry) {
    RealAttr value = entry.getValue();
    return value.isSymbol() || rule.admits(entry.getKey(), value.getDouble());
  });
}

bool mlc::elementsAre(DenseElementsAttr elements, ElementPredicate predicate) {
  if (!isa<FloatType>(elements.getElementType()))
    return false;
  if (predicate == ElementPredicate::AllEqual)
    return elements.isSplat();
  // These are properties of numbers, so infinities do not have them.
  return llvm::all_of(elements.getValues<APFloat>(), [&](APFloat x) {
    switch (predicate) {
    case ElementPredicate::Positive:
      return x.isFinite() && !x.isNegative() && !x.isZero();
    case ElementPredicate::NonNegative:
      return x.isFinite() && (!x.isNegative() || x.isZero());
    case ElementPredicate::NonZero:
      return x.isFinite() && !x.isZero();
    default:
      return x.isFinite();
    }
  });
}
