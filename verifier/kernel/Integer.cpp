//===- Integer.cpp - Integers and formulas of the proof kernel ------------===//

#include "verifier/kernel/Integer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlc::kernel {

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Integer::Integer(int64_t value)
    : node(std::make_shared<const Node>(Node{Kind::Constant, value})) {}

Integer Integer::size(llvm::StringRef name) {
  return Integer(std::make_shared<const Node>(Node{Kind::Size, 0, name.str()}));
}

Integer Integer::variable(Variable number) {
  return Integer(std::make_shared<const Node>(Node{Kind::Variable, number}));
}

Integer Integer::slot(unsigned number) {
  return Integer(std::make_shared<const Node>(Node{Kind::Slot, number}));
}

Integer Integer::apply(Kind kind, Integer a, Integer b) {
  bool areConstants = a.kind() == Kind::Constant && b.kind() == Kind::Constant;
  int64_t result;
  if (areConstants && kind == Kind::Add &&
      !llvm::AddOverflow(a.value(), b.value(), result))
    return Integer(result);
  if (areConstants && kind == Kind::Multiply &&
      !llvm::MulOverflow(a.value(), b.value(), result))
    return Integer(result);
  if (kind == Kind::Add && a == Integer(0))
    return b;
  if ((kind == Kind::Add && b == Integer(0)) ||
      (kind == Kind::Multiply && b == Integer(1)))
    return a;
  if (kind == Kind::Multiply && a == Integer(1))
    return b;
  uint64_t size =
      std::min<uint64_t>(1 + a.node->size + b.node->size, uint64_t(1) << 31);
  return Integer(std::make_shared<const Node>(
      Node{kind, 0, {}, std::move(a.node), std::move(b.node), size}));
}

bool Integer::same(const Node &a, const Node &b) {
  if (&a == &b)
    return true;
  if (a.kind != b.kind || a.value != b.value || a.name != b.name)
    return false;
  return !a.left || (same(*a.left, *b.left) && same(*a.right, *b.right));
}

bool Integer::operator==(const Integer &other) const {
  return same(*node, *other.node);
}

Integer operator+(const Integer &a, const Integer &b) {
  return Integer::apply(Integer::Kind::Add, a, b);
}
Integer operator-(const Integer &a, const Integer &b) {
  return a + Integer(-1) * b;
}
Integer operator*(const Integer &a, const Integer &b) {
  return Integer::apply(Integer::Kind::Multiply, a, b);
}

Integer mapLeaves(const Integer &integer,
                  llvm::function_ref<Integer(const Integer &)> map) {
  if (integer.isLeaf())
    return map(integer);
  return Integer::apply(integer.kind(), mapLeaves(integer.left(), map),
                        mapLeaves(integer.right(), map));
}

Integer substitute(const Integer &integer, const Bindings &values) {
  return mapLeaves(integer, [&](const Integer &leaf) {
    if (leaf.kind() != Integer::Kind::Variable)
      return leaf;
    auto it = values.find(static_cast<Variable>(leaf.value()));
    return it == values.end() ? leaf : it->second;
  });
}

bool fillSlots(Integer &integer, llvm::ArrayRef<Integer> scope) {
  bool isFilled = true;
  integer = mapLeaves(integer, [&](const Integer &leaf) {
    if (leaf.kind() != Integer::Kind::Slot)
      return leaf;
    bool isKnown = static_cast<uint64_t>(leaf.value()) < scope.size();
    isFilled &= isKnown;
    return isKnown ? scope[static_cast<size_t>(leaf.value())] : leaf;
  });
  return isFilled;
}

bool mentions(const Integer &integer, Variable variable) {
  if (integer.isLeaf())
    return integer.kind() == Integer::Kind::Variable &&
           integer.value() == variable;
  return mentions(integer.left(), variable) ||
         mentions(integer.right(), variable);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

bool Formula::operator==(const Formula &other) const {
  return node == other.node ||
         (kind() == other.kind() && integer() == other.integer() &&
          parts() == other.parts());
}

Formula mapIntegers(const Formula &formula,
                    llvm::function_ref<Integer(const Integer &)> map) {
  std::vector<Formula> parts;
  switch (formula.kind()) {
  case Formula::Kind::NotNegative:
    return Formula::notNegative(map(formula.integer()));
  case Formula::Kind::Zero:
    return Formula::zero(map(formula.integer()));
  case Formula::Kind::Not:
    return Formula::negation(mapIntegers(formula.parts()[0], map));
  case Formula::Kind::All:
  case Formula::Kind::Any:
    for (const Formula &part : formula.parts())
      parts.push_back(mapIntegers(part, map));
    return formula.kind() == Formula::Kind::All
               ? Formula::all(std::move(parts))
               : Formula::any(std::move(parts));
  }
  llvm_unreachable("unknown formula");
}

Formula substitute(const Formula &formula, const Bindings &values) {
  return mapIntegers(formula,
                     [&](const Integer &i) { return substitute(i, values); });
}

bool fillSlots(Formula &formula, llvm::ArrayRef<Integer> scope) {
  bool isFilled = true;
  formula = mapIntegers(formula, [&](Integer integer) {
    isFilled &= fillSlots(integer, scope);
    return integer;
  });
  return isFilled;
}

bool mentions(const Formula &formula, Variable variable) {
  return mentions(formula.integer(), variable) ||
         llvm::any_of(formula.parts(), [&](const Formula &part) {
           return mentions(part, variable);
         });
}

} // namespace mlc::kernel
