//===- Expand.h - From a definition to normal forms -------------*- C++ -*-===//

#ifndef MLC_VERIFIER_SEARCH_EXPAND_H
#define MLC_VERIFIER_SEARCH_EXPAND_H

#include "verifier/search/Integers.h"
#include "verifier/search/Normalize.h"

namespace mlc::verifier {

/// `value` as a number of a float type: rounded, infinite beyond the largest.
Sum numberSum(mlir::Type type, double value);
/// Expands elements of a definition's results: stages are inlined, guards
/// pushed into domains.
class Expander {
public:
  Expander(const Definition &definition, Normalizer &normalizer)
      : definition(definition), n(normalizer) {}

  /// The element of result `result` at `indices`, which are in range.
  Sum expandResult(unsigned result, llvm::ArrayRef<IntExpr> indices,
                   const Facts &facts);
  /// Why expansion failed; empty otherwise.
  const std::string &getFailure() const { return failure; }

private:
  using Environment = std::map<unsigned, IntExpr>;
  struct Scope {
    const Environment &loops;
    const Facts &facts;
  };

  Sum readTensor(TensorId tensor, llvm::ArrayRef<IntExpr> indices,
                 const Facts &facts);
  Sum readOpaque(const ExprNode &node, const Scope &scope);
  Sum expand(const Expr &expr, const Scope &scope);
  Sum expandNode(const ExprNode &node, const Scope &scope);
  Sum expandRead(const ExprNode &node, const Scope &scope);
  Sum expandParameter(const ExprNode &node, const Scope &scope);
  Sum expandUnary(const ExprNode &node, const Scope &scope);
  Sum expandBinary(const ExprNode &node, const Scope &scope);
  Sum expandCompare(const ExprNode &node, const Scope &scope);
  Sum expandSelect(const ExprNode &node, const Scope &scope);
  Sum expandCast(const ExprNode &node, const Scope &scope);
  bool fits(const Sum &x, const IntegerKind &kind, const Facts &facts);
  bool holds(mlir::Type type, const Sum &x, const Facts &facts);
  Sum castInteger(const Sum &x, mlir::Type from, mlir::Type to,
                  const Facts &facts);
  Sum castFloat(const Sum &x, mlir::Type from, mlir::Type to,
                const Facts &facts);
  std::optional<Sum> boolean(BinaryFn fn, const Sum &a, const Sum &b);
  Sum ordered(bool isEquality, const Sum &a, const Sum &b, mlir::Type type,
              const Scope &scope);
  Sum expandReduce(const ExprNode &node, const Scope &scope);
  std::optional<IntExpr> toIndex(const Expr &expr, const Scope &scope);
  std::optional<IntExpr> toIndex(const ExprNode &node, const Scope &scope);
  std::optional<IntExpr> fromSum(const Sum &sum);
  Sum fail(const llvm::Twine &reason);

  const Definition &definition;
  Normalizer &n;
  std::string failure;
  unsigned depth = 0; // of nested calls of expand
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_SEARCH_EXPAND_H
