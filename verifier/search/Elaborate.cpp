//===- Elaborate.cpp - Finds proofs for the kernel ------------------------===//

#include "verifier/search/Elaborate.h"
#include "verifier/kernel/Unfold.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using llvm::ArrayRef;
using namespace mlc::kernel;

namespace mlc::elaborate {

using verifier::Facts;
using verifier::Substitution;

std::nullopt_t Elaborator::fail(const llvm::Twine &reason) {
  if (failure.empty())
    failure = reason.str();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Integers of the kernel and the prover's
//===----------------------------------------------------------------------===//

std::string nameOf(Variable variable) {
  return "%k" + std::to_string(variable);
}

IntExpr Elaborator::toExpr(const Integer &integer) const {
  auto left = [&] { return toExpr(integer.left()); };
  auto right = [&] { return toExpr(integer.right()); };
  switch (integer.kind()) {
  case Integer::Kind::Constant:
    return IntExpr::constant(mlir, integer.value());
  case Integer::Kind::Size:
    return IntExpr::symbol(mlir, integer.name());
  case Integer::Kind::Variable:
    return IntExpr::symbol(mlir, nameOf(integer.value()));
  case Integer::Kind::Slot:
    break;
  case Integer::Kind::Add:
    return left() + right();
  case Integer::Kind::Multiply:
    return left() * right();
  case Integer::Kind::FloorDivide:
    return left().floorDiv(right());
  case Integer::Kind::Modulo:
    return left().mod(right());
  case Integer::Kind::Minimum:
    return IntExpr::min(left(), right());
  case Integer::Kind::Maximum:
    return IntExpr::max(left(), right());
  case Integer::Kind::Element: {
    auto it = llvm::find(elements, integer);
    unsigned place = it - elements.begin();
    if (it == elements.end())
      elements.push_back(integer);
    // Symbols are not negative but elements may be, so subtract a second
    // symbol.
    return IntExpr::symbol(mlir, "%e" + std::to_string(place)) -
           IntExpr::symbol(mlir, "%o" + std::to_string(place));
  }
  }
  llvm_unreachable("slots are of proofs");
}

Integer Elaborator::fromExpr(IntExpr expr) const {
  return mapLeaves(integerOf(expr), [&](const Integer &leaf) {
    llvm::StringRef name = leaf.name();
    unsigned number;
    if (leaf.kind() == Integer::Kind::Size && name.starts_with("%o"))
      return Integer(0);
    if (leaf.kind() == Integer::Kind::Size && name.consume_front("%e") &&
        !name.getAsInteger(10, number) && number < elements.size())
      return elements[number];
    bool isVariable = leaf.kind() == Integer::Kind::Size &&
                      name.consume_front("%k") &&
                      !name.getAsInteger(10, number);
    return isVariable ? Integer::variable(number) : leaf;
  });
}

/// Adds the part of a formula that is a conjunction of guards.
void Elaborator::toGuards(const Formula &formula, Guards &out) const {
  switch (formula.kind()) {
  case Formula::Kind::NotNegative:
    out.push_back(Guard::nonNegative(toExpr(formula.integer())));
    break;
  case Formula::Kind::Zero:
    out.push_back(Guard::zero(toExpr(formula.integer())));
    break;
  case Formula::Kind::All:
    for (const Formula &part : formula.parts())
      toGuards(part, out);
    break;
  case Formula::Kind::Not: {
    const Formula &part = formula.parts()[0];
    if (part.kind() == Formula::Kind::NotNegative)
      out.push_back(Guard::nonNegative(-toExpr(part.integer()) - 1));
    else if (part.kind() == Formula::Kind::Zero)
      out.push_back(Guard::nonZero(toExpr(part.integer())));
    else if (part.kind() == Formula::Kind::Not)
      toGuards(part.parts()[0], out);
    break;
  }
  case Formula::Kind::Any:
    break;
  }
}

Elaborator::Guards Elaborator::toGuards(ArrayRef<Formula> formulas) const {
  Guards guards;
  for (const Formula &formula : formulas)
    toGuards(formula, guards);
  return guards;
}

/// The integer with variables as slots of the scope; nullopt if one is not in
/// scope.
std::optional<Integer> toSlots(const Integer &integer,
                               ArrayRef<Integer> scope) {
  if (integer.isLeaf()) {
    if (integer.kind() != Integer::Kind::Variable)
      return integer;
    const auto *it = llvm::find(scope, integer);
    return it == scope.end() ? std::nullopt
                             : std::optional(Integer::slot(it - scope.begin()));
  }
  std::optional<Integer> a = toSlots(integer.left(), scope),
                         b = toSlots(integer.right(), scope);
  if (!a || !b)
    return std::nullopt;
  return Integer::apply(integer.kind(), *a, *b);
}

std::optional<std::vector<Integer>> toSlots(ArrayRef<Variable> variables,
                                            const Bindings &values,
                                            ArrayRef<Integer> scope) {
  std::vector<Integer> result;
  for (Variable variable : variables) {
    auto it = values.find(variable);
    std::optional<Integer> slots =
        it == values.end() ? std::nullopt : toSlots(it->second, scope);
    if (!slots)
      return std::nullopt;
    result.push_back(*slots);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pairs and the equations between their indices
//===----------------------------------------------------------------------===//

std::string headOf(const Factor &factor) {
  return std::to_string(static_cast<int>(factor.kind)) + ":" +
         std::to_string(factor.input) + ":" + factor.parameter +
         factor.head.str();
}

std::string signatureOf(const Term &term) {
  std::vector<std::string> heads;
  for (const FactorRef &factor : productOf(term).factors)
    heads.push_back(headOf(*factor));
  llvm::sort(heads);
  std::string text;
  for (const std::string &head : heads)
    text += head + ";";
  return text;
}

/// Ways to pair factors: for each of `left` the position of its partner.
std::vector<std::vector<unsigned>> pairings(ArrayRef<FactorRef> left,
                                            ArrayRef<FactorRef> right) {
  constexpr size_t most = 24;
  std::vector<std::vector<unsigned>> result;
  std::vector<unsigned> chosen;
  std::vector<bool> used(right.size());
  std::function<void()> extend = [&]() {
    if (result.size() >= most)
      return;
    if (chosen.size() == left.size()) {
      result.push_back(chosen);
      return;
    }
    for (unsigned j = 0; j < right.size(); ++j) {
      if (used[j] || headOf(*right[j]) != headOf(*left[chosen.size()]))
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

/// Pairs the domains of paired terms or branches.
template <class Bound>
void Elaborator::pairDomains(const Bound &left, const Bound &right,
                             Pairing &out) const {
  for (Variable v : left.variables)
    out.leftInner.push_back(IntExpr::symbol(mlir, nameOf(v)));
  for (Variable v : right.variables)
    out.rightInner.push_back(IntExpr::symbol(mlir, nameOf(v)));
  llvm::append_range(out.leftGuards, toGuards(left.guards));
  llvm::append_range(out.rightGuards, toGuards(right.guards));
}

/// Pairs the numbers that paired terms multiply by, such as i64(j) in a
/// comparison.
void Elaborator::pairNumbers(const Term &left, const Term &right,
                             Pairing &out) const {
  const Integer l = productOf(left).number, r = productOf(right).number;
  if (!(l == r))
    out.numbers.push_back(toExpr(l) - toExpr(r));
}

bool Elaborator::pair(const Factor &left, const Factor &right,
                      Pairing &out) const {
  if (headOf(left) != headOf(right) ||
      left.index.size() != right.index.size() ||
      left.arguments.size() != right.arguments.size())
    return false;
  for (auto [l, r] : llvm::zip(left.index, right.index))
    out.zeros.push_back(toExpr(l) - toExpr(r));
  for (auto [l, r] : llvm::zip(left.arguments, right.arguments))
    if (!pair(l, r, out))
      return false;
  std::vector<bool> used(right.branches.size());
  for (const Branch &l : left.branches)
    for (auto [j, r] : llvm::enumerate(right.branches)) {
      Pairing attempt = out;
      if (used[j] || !pair(l.value, r.value, attempt))
        continue;
      pairDomains(l, r, attempt);
      out = std::move(attempt);
      used[j] = true;
      break;
    }
  return true;
}

bool Elaborator::pair(const Sum &left, const Sum &right, Pairing &out) const {
  constexpr size_t mostConditions = 2000;
  std::vector<bool> used(right.size());
  std::vector<std::string> signatures;
  for (const Term &r : right)
    signatures.push_back(signatureOf(r));
  // Guards that occur on both sides are paired with themselves.
  std::vector<bool> isPaired(left.size());
  for (auto [i, l] : llvm::enumerate(left))
    for (auto [j, r] : llvm::enumerate(right))
      if (!used[j] && !isPaired[i] && same(Sum{l}, Sum{r}))
        used[j] = isPaired[i] = true;
  for (auto [i, l] : llvm::enumerate(left)) {
    if (isPaired[i])
      continue;
    std::string signature = signatureOf(l);
    for (auto [j, r] : llvm::enumerate(right)) {
      if (used[j] || signature != signatures[j])
        continue;
      if (out.zeros.size() + out.leftGuards.size() + out.rightGuards.size() >
          mostConditions)
        return false;
      Pairing attempt = out;
      Product x = productOf(l), y = productOf(r);
      std::vector<unsigned> partner = pairings(x.factors, y.factors).front();
      bool isAlike = true;
      for (size_t i = 0; i < x.factors.size() && isAlike; ++i)
        isAlike = pair(*x.factors[i], *y.factors[partner[i]], attempt);
      if (!isAlike)
        continue;
      if (l.coefficient == r.coefficient)
        pairNumbers(l, r, attempt);
      pairDomains(l, r, attempt);
      out = std::move(attempt);
      used[j] = true;
      break;
    }
  }
  return true;
}

std::optional<Bindings>
Elaborator::solve(const Pairing &pairing, bool isForward,
                  ArrayRef<Variable> wanted, ArrayRef<Variable> given,
                  ArrayRef<Formula> wantedGuards, ArrayRef<Formula> givenGuards,
                  ArrayRef<Formula> known, bool pairByRange) {
  auto symbols = [&](ArrayRef<Variable> variables) {
    std::vector<IntExpr> result;
    for (Variable variable : variables)
      result.push_back(IntExpr::symbol(mlir, nameOf(variable)));
    return result;
  };
  std::vector<IntExpr> unknowns = symbols(wanted), known0 = symbols(given);
  Guards own = toGuards(wantedGuards), other = toGuards(givenGuards);
  Facts facts;
  for (const Guard &guard : toGuards(known))
    facts.add(guard);
  facts = facts.with(own).with(other);
  std::vector<IntExpr> zeros;
  for (IntExpr zero : pairing.zeros)
    zeros.push_back(facts.simplify(zero));
  for (const Guard &guard : own)
    if (guard.kind == Guard::Kind::Zero)
      zeros.push_back(guard.expr);
  llvm::append_range(own, isForward ? pairing.leftGuards : pairing.rightGuards);
  llvm::append_range(other,
                     isForward ? pairing.rightGuards : pairing.leftGuards);
  std::optional<Substitution> solved = verifier::solveEquations(
      {zeros, unknowns, isForward ? pairing.leftInner : pairing.rightInner,
       known0, isForward ? pairing.rightInner : pairing.leftInner, own, other},
      facts, pairByRange);
  if (!solved)
    return std::nullopt;
  Bindings result;
  for (auto [variable, symbol] : llvm::zip(wanted, unknowns)) {
    auto it = solved->find(symbol.getSymbol().str());
    if (it == solved->end())
      continue;
    result.insert({variable, fromExpr(it->second)});
  }
  return result;
}

} // namespace mlc::elaborate
