//===- Integer.h - Integers and formulas of the proof kernel ----*- C++ -*-===//
//
// What indices, sizes and the conditions on them are to the kernel: trees,
// whose meaning is that of the integers without bounds, and which only a solver
// compares (Decide.h). Nothing is simplified here beyond constants.
//
// Quotients round down and their divisors are positive: that is a need of the
// statement (Unfold.h), shown before anything rests on it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_INTEGER_H
#define MLC_VERIFIER_KERNEL_INTEGER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlc::kernel {

/// A variable: of a sum, a reduction, or of the context. The kernel numbers
/// them, each binder anew.
using Variable = unsigned;

/// An integer; immutable, cheap to copy.
class Integer {
public:
  enum class Kind {
    Constant,
    Size,     // a symbol of the statement: a number that is not negative
    Variable, // bound, or of the context
    Slot,     // in proofs: the n-th variable in scope
    Add,
    Multiply,
    FloorDivide,
    Modulo,
    Minimum,
    Maximum,
    /// An element of an input of integers, as the number that it stands for: of
    /// the input (left) and an index (right), or of such a one with one index
    /// more. Of it is known that equal indices have equal elements.
    Element,
  };

  Integer() : Integer(0) {}
  Integer(int64_t value);
  static Integer size(llvm::StringRef name);
  static Integer variable(Variable number);
  static Integer slot(unsigned number);
  /// Of the kinds from Add on.
  static Integer apply(Kind kind, Integer a, Integer b);

  Kind kind() const { return node->kind; }
  /// Of a constant; the number of a variable or slot.
  int64_t value() const { return node->value; }
  llvm::StringRef name() const { return node->name; }
  Integer left() const { return Integer(node->left); }
  Integer right() const { return Integer(node->right); }
  bool isLeaf() const { return !node->left; }
  /// How many nodes it has as a tree, at most 2^31.
  uint64_t treeSize() const { return node->size; }

  bool operator==(const Integer &other) const;

private:
  struct Node {
    Kind kind;
    int64_t value = 0;
    std::string name = {};
    std::shared_ptr<const Node> left = {}, right = {};
    uint64_t size = 1;
  };
  explicit Integer(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  static bool same(const Node &a, const Node &b);
  std::shared_ptr<const Node> node;
};

Integer operator+(const Integer &a, const Integer &b);
Integer operator-(const Integer &a, const Integer &b);
Integer operator*(const Integer &a, const Integer &b);

/// What a proof, or what becomes of it, may not exceed.
constexpr uint64_t largestInteger = 4000;

/// Values of variables.
using Bindings = std::map<Variable, Integer>;
/// The integer with its leaves replaced.
Integer mapLeaves(const Integer &integer,
                  llvm::function_ref<Integer(const Integer &)> map);
Integer substitute(const Integer &integer, const Bindings &values);
/// Replaces slots by what stands at their places; false where there is none.
bool fillSlots(Integer &integer, llvm::ArrayRef<Integer> scope);
bool mentions(const Integer &integer, Variable variable);

/// A condition on integers; immutable, cheap to copy.
class Formula {
public:
  enum class Kind { NotNegative, Zero, Not, All, Any };

  /// True.
  Formula() : Formula(Kind::All, {}, {}) {}
  static Formula notNegative(Integer value) {
    return Formula(Kind::NotNegative, std::move(value), {});
  }
  static Formula zero(Integer value) {
    return Formula(Kind::Zero, std::move(value), {});
  }
  static Formula negation(Formula part) {
    return Formula(Kind::Not, {}, {std::move(part)});
  }
  static Formula all(std::vector<Formula> parts) {
    return Formula(Kind::All, {}, std::move(parts));
  }
  static Formula any(std::vector<Formula> parts) {
    return Formula(Kind::Any, {}, std::move(parts));
  }
  static Formula less(const Integer &a, const Integer &b) {
    return notNegative(b - a - 1);
  }
  static Formula equal(const Integer &a, const Integer &b) {
    return zero(a - b);
  }
  /// 0 <= value < extent.
  static Formula inRange(const Integer &value, const Integer &extent) {
    return all({notNegative(value), less(value, extent)});
  }

  Kind kind() const { return node->kind; }
  const Integer &integer() const { return node->integer; }
  llvm::ArrayRef<Formula> parts() const { return node->parts; }
  bool isTrue() const { return kind() == Kind::All && parts().empty(); }

  bool operator==(const Formula &other) const;

private:
  struct Node {
    Kind kind;
    Integer integer;
    std::vector<Formula> parts;
  };
  Formula(Kind kind, Integer integer, std::vector<Formula> parts)
      : node(std::make_shared<const Node>(
            Node{kind, std::move(integer), std::move(parts)})) {}
  std::shared_ptr<const Node> node;
};

/// Rewrites every integer in it.
Formula mapIntegers(const Formula &formula,
                    llvm::function_ref<Integer(const Integer &)> map);
Formula substitute(const Formula &formula, const Bindings &values);
bool fillSlots(Formula &formula, llvm::ArrayRef<Integer> scope);
bool mentions(const Formula &formula, Variable variable);

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_INTEGER_H
