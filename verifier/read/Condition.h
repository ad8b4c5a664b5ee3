//===- Condition.h - Assumptions on two functions ---------------*- C++ -*-===//

#ifndef MLC_VERIFIER_READ_CONDITION_H
#define MLC_VERIFIER_READ_CONDITION_H

#include "dialects/Definition/Definition.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <string>
#include <vector>

namespace mlc {

/// A predicate on symbolic integers: a comparison, a divisibility, or a
/// conjunction, disjunction or negation of predicates. Value type.
class Condition {
public:
  enum class Kind { Compare, Divides, AllOf, AnyOf, Not };

  /// lhs predicate rhs.
  static Condition compare(IntExpr lhs, ComparePredicate predicate,
                           IntExpr rhs);
  /// divisor > 0, and divisor divides value.
  static Condition divides(IntExpr divisor, IntExpr value);
  /// True if there are no parts.
  static Condition allOf(std::vector<Condition> parts);
  /// False if there are no parts.
  static Condition anyOf(std::vector<Condition> parts);
  static Condition negation(Condition part);

  Kind getKind() const { return kind; }
  ComparePredicate getPredicate() const { return predicate; }
  IntExpr getLhs() const { return lhs; } // Divides: the divisor
  IntExpr getRhs() const { return rhs; } // Divides: the value
  llvm::ArrayRef<Condition> getParts() const { return parts; }

  /// The truth value for concrete symbols; nullopt if a symbol is missing or a
  /// division is by zero.
  std::optional<bool>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf)
      const;
  void walkSymbols(llvm::function_ref<void(llvm::StringRef)> callback) const;
  /// `2 * p >= k - 1 and s divides H`.
  void print(llvm::raw_ostream &os) const;

private:
  Kind kind = Kind::AllOf;
  ComparePredicate predicate = ComparePredicate::EQ;
  IntExpr lhs, rhs;
  std::vector<Condition> parts;
};

/// A property of every element of a tensor argument. `Finite` always holds over
/// the reals; `Constant` (known when the rule is applied) has no effect here.
struct TensorAssumption {
  unsigned argument; // of both functions
  ElementPredicate predicate;
  /// The name of the argument in messages (describeArgument); has no meaning.
  std::string name = {};
};

/// The name of an argument in messages: `%w` as in the function's source text
/// (dialects/Module/ParseModule.h), else `argument 1`.
std::string describeArgument(mlir::func::FuncOp function, unsigned argument);

/// `parameter predicate bound` of a real parameter (RealAttr symbol).
struct RealAssumption {
  std::string parameter;
  ComparePredicate predicate;
  double bound;
};

struct Assumptions {
  std::vector<Condition> integers;
  std::vector<TensorAssumption> tensors;
  std::vector<RealAssumption> reals;
};
/// The assumptions in readable form; empty if there are none.
std::string str(const Assumptions &assumptions);

llvm::StringRef name(ElementPredicate predicate); // "positive"

} // namespace mlc

#endif // MLC_VERIFIER_READ_CONDITION_H
