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

std::string textOf(mlir::Type type);

/// 1 where a truth value is 0, else 0.
Sum inverse(const Sum &truth);

class Unfolder {
public:
  Unfolder(const Definition &definition, const Assumptions &assumptions,
           Names &names)
      : definition(definition), assumptions(assumptions), names(names) {}

  Value read(TensorId tensor, llvm::ArrayRef<Integer> indices,
             const Scope &scope);

  std::vector<Need> needs;
  bool dropsTerms = false;
  std::string failure;

private:
  Value unfold(const Expr &expr, const Scope &scope);
  Value unfoldNode(const ExprNode &node, const Scope &scope);
  Value unfoldUnwritten(const ExprNode &node, const Scope &scope);
  Value unfoldConstant(const ExprNode &node);
  Value unfoldRead(const ExprNode &node, const Scope &scope);
  Value unfoldUnary(const ExprNode &node, const Scope &scope);
  Value unfoldBinary(const ExprNode &node, const Scope &scope);
  Value unfoldTruth(const ExprNode &node, const Value &a, const Value &b,
                    size_t first, size_t second);
  Value unfoldCompare(const ExprNode &node, const Scope &scope);
  Value unfoldSelect(const ExprNode &node, const Scope &scope);
  Value unfoldCast(const ExprNode &node, const Scope &scope);
  Value unfoldReduce(const ExprNode &node, const Scope &scope);
  std::optional<Value> unfoldPower(const Value &a, const Value &b, bool isReal,
                                   const Scope &scope);
  void requirePositiveBase(const Value &base, const Scope &scope);
  Value unfoldBits(const ExprNode &node);
  Sum functionOfBits(const ExprNode &node, llvm::ArrayRef<Sum> x);
  Value reduceInOrder(const ExprNode &node, const Scope &scope);
  bool isBits(mlir::Type type) const {
    return assumptions.isLiteral && isFloat(type);
  }
  std::optional<Integer> integer(const ExprNode &node, const Scope &scope);
  std::optional<Integer> element(const ExprNode &node, const Scope &scope);
  using Choice = std::vector<std::pair<Formula, Integer>>;
  std::optional<Choice> indexChoice(const Expr &index, const Scope &scope);
  Value guardedRead(const ExprNode &node, llvm::ArrayRef<Integer> indices,
                    const Scope &scope);
  std::optional<Formula> formula(const ExprNode &node, const Scope &scope);

  using Function = llvm::function_ref<Sum(llvm::ArrayRef<Sum>)>;
  Value apply(llvm::ArrayRef<Value> operands, Function function);
  Value call(llvm::StringRef name, llvm::ArrayRef<Value> operands, bool truth) {
    return apply(operands, [&](llvm::ArrayRef<Sum> sums) {
      return single(makeCall(name, sums.vec(), truth));
    });
  }
  Sum multiply(const Sum &a, const Sum &b);
  Value fail(const llvm::Twine &reason) {
    if (failure.empty())
      failure = reason.str();
    return plain({});
  }
  Value inside(const Formula &guard, Scope scope, const Expr &expr);
  void require(Need::Kind kind, const Value &value, unsigned width,
               const Scope &scope);
  static Value plain(Sum sum) { return {Case{{}, std::move(sum)}}; }
  static Sum sumOf(const Value &value);

  const Definition &definition;
  const Assumptions &assumptions;
  Names &names;
  std::vector<Sum> path;
  size_t work = 0;
  uint64_t multiplied = 0; // what products were made of
  unsigned depth = 0;
};

} // namespace mlc::kernel

#endif // MLC_VERIFIER_KERNEL_UNFOLDER_H
