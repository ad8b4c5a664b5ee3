//===- Unfolder.h - How definitions become sums -----------------*- C++ -*-===//
//
// What an expression is depends on where its indices are: a guarded read is one
// thing inside and another outside. So it is a list of cases, which exclude one
// another and leave nothing out. Functions apply in each case; what is linear
// takes all of them as one sum.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_KERNEL_UNFOLDER_H
#define MLC_VERIFIER_KERNEL_UNFOLDER_H

#include "verifier/kernel/Unfold.h"

namespace mlc::kernel {

struct Case {
  std::vector<Formula> guards;
  Sum value;
};
using Value = std::vector<Case>;

/// Where an expression stands.
struct Scope {
  std::map<unsigned, Integer> loops;
  std::vector<Formula> guards;
  std::vector<Variable> variables;
};

inline bool isFloat(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type);
}
inline bool isTruth(mlir::Type type) { return type.isInteger(1); }
inline bool isIndex(mlir::Type type) {
  return mlir::isa<mlir::IndexType>(type);
}

/// The number that a finite double is.
Rational exactly(double value);

/// 1 where a truth value is 0, else 0.
Sum inverse(const Sum &truth);

class Unfolder {
public:
  /// `effort` multiplies the work after which it gives up.
  Unfolder(const Definition &definition, const Assumptions &assumptions,
           Names &names, unsigned effort = 1)
      : definition(definition), assumptions(assumptions), names(names),
        effort(effort) {}

  /// The element of a tensor at indices that are in range.
  Value read(TensorId tensor, llvm::ArrayRef<Integer> indices,
             const Scope &scope);
  Value unfold(const Expr &expr, const Scope &scope);

  /// What a read gives where all guards, beyond those of its scope, hold: an
  /// element, whose indices are in range there, or what stands for one.
  struct Way {
    std::vector<Formula> guards;
    bool isElement;
    std::vector<Integer> indices;
  };
  /// Those of a read, which exclude one another and leave nothing out; nothing
  /// where an index depends on values otherwise than by being one.
  std::optional<std::vector<Way>> waysOf(const ExprNode &node,
                                         const Scope &scope);
  /// An element whose index depends on values: of which is known that equal
  /// indices give equal elements.
  struct Anywhere {
    Value element;
    std::optional<Value> within; // of a guarded read: whether it is in range
  };
  Anywhere readAnywhere(const ExprNode &node, const Scope &scope);
  using OnPiece = llvm::function_ref<void(const Piece &, const Scope &)>;
  /// Calls back with each piece in which an element of a stage may lie, where
  /// it does (the guards of the scope say so).
  static void forEachPiece(const Stage &stage, llvm::ArrayRef<Integer> indices,
                           const Scope &scope, OnPiece onPiece);

  /// The exponent of a power, if it is k/2 for a small whole k.
  std::optional<Rational> exponentOf(const ExprNode &node, const Scope &scope);
  /// Whether a cast is of what was cast from a type whose every number its own
  /// type has.
  bool isCastBack(const ExprNode &node, const Scope &scope);
  /// An index that is an integer of the kernel.
  std::optional<Integer> integer(const ExprNode &node, const Scope &scope);
  using Function = llvm::function_ref<Sum(llvm::ArrayRef<Sum>)>;
  /// A function in each case of its operands.
  Value apply(llvm::ArrayRef<Value> operands, Function function);
  /// All cases in one sum.
  static Sum sumOf(const Value &value);

  bool dropsTerms = false;
  std::string failure;

private:
  Value unfoldNode(const ExprNode &node, const Scope &scope);
  Value unfoldUnwritten(const ExprNode &node, const Scope &scope);
  Value unfoldConstant(const ExprNode &node);
  Value unfoldRead(const ExprNode &node, const Scope &scope);
  Value unfoldUnary(const ExprNode &node, const Scope &scope);
  Value unfoldBinary(const ExprNode &node, const Scope &scope);
  Value unfoldTruth(const ExprNode &node, const Value &a, const Value &b);
  Value unfoldCompare(const ExprNode &node, const Scope &scope);
  Value unfoldSelect(const ExprNode &node, const Scope &scope);
  Value unfoldCast(const ExprNode &node, const Scope &scope);
  Value unfoldReduce(const ExprNode &node, const Scope &scope);
  std::optional<Rational> exponentOf(const Value &exponent,
                                     mlir::Type type) const;
  std::optional<Value> unfoldPower(const Value &a, const Value &b,
                                   mlir::Type type);
  Value unfoldBits(const ExprNode &node);
  Sum functionOfBits(const ExprNode &node, llvm::ArrayRef<Sum> x);
  Value reduceInOrder(const ExprNode &node, const Scope &scope);
  bool isBits(mlir::Type type) const {
    return assumptions.isLiteral && isFloat(type);
  }
  std::optional<Integer> element(const ExprNode &node, const Scope &scope);
  using Choice = std::vector<std::pair<Formula, Integer>>;
  std::optional<Choice> indexChoice(const Expr &index, const Scope &scope);
  std::optional<Formula> formula(const ExprNode &node, const Scope &scope);

  Value call(const Head &function, llvm::ArrayRef<Value> operands, bool truth) {
    return apply(operands, [&](llvm::ArrayRef<Sum> sums) {
      return single(makeCall(function, sums.vec(), truth));
    });
  }
  Sum multiply(const Sum &a, const Sum &b);
  Value fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
    return plain({});
  }
  static Value plain(Sum sum) { return {Case{{}, std::move(sum)}}; }

  const Definition &definition;
  const Assumptions &assumptions;
  Names &names;
  unsigned effort;
  size_t work = 0;
  uint64_t multiplied = 0; // what products were made of
  unsigned depth = 0;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_UNFOLDER_H
