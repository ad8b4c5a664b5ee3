//===- Expand.h - From a definition to normal forms -------------*- C++ -*-===//

#ifndef MLC_VERIFIER_EXPAND_H
#define MLC_VERIFIER_EXPAND_H

#include "verifier/Integers.h"
#include "verifier/Normalize.h"

namespace mlc::verifier {

/// Something that must hold for a function to be defined: of `value`, for every
/// point of the domain where the truth values of `path` are all 1: what a
/// selection does not choose need not be defined.
struct Obligation {
  enum class Kind { NonZero, NonNegative, Positive, Defined };
  Kind kind;
  Domain domain;
  Sum value;
  mlir::Type type; // of the value: integers are numbers modulo 2^w
  std::vector<Sum> path;
};

/// The number in a float type that stands for `value` there: rounded, infinite
/// beyond the largest.
Sum numberSum(mlir::Type type, double value);
/// As strict proofs have it: 0 and -0 differ.
Sum literalNumber(mlir::Type type, double value);

/// The name of an operation of which nothing is known but the type of its
/// result, in which it is rounded.
std::string literalName(llvm::StringRef function, const ExprNode &node);

/// What an Expander's obligations are for. Where one operand of `and` decides
/// it, the other need not be defined; what is given must not rely on it, and
/// what is to be shown does not use it but from left to right.
enum class Side { Given, ToShow };

/// Expands elements of a definition's results: stages are inlined, guards
/// pushed into domains.
class Expander {
public:
  Expander(const Definition &definition, Normalizer &normalizer,
           Side side = Side::ToShow)
      : definition(definition), n(normalizer), side(side) {}

  /// The element of result `result` at `indices`, which are in range.
  Sum expandResult(unsigned result, llvm::ArrayRef<IntExpr> indices,
                   const Facts &facts);
  /// The element of a stage, which no result need read.
  Sum expandStage(unsigned stage, llvm::ArrayRef<IntExpr> indices,
                  const Facts &facts) {
    return readTensor({true, stage}, indices, facts, {});
  }

  /// What must hold of divisors, roots and logarithms.
  const std::vector<Obligation> &getObligations() const { return obligations; }
  /// Why expansion failed; empty otherwise.
  const std::string &getFailure() const { return failure; }

private:
  using Environment = std::map<unsigned, IntExpr>;
  struct Scope {
    const Environment &loops;
    const Facts &facts;
    const Domain &domain; // variables of the reductions around
  };

  Sum readTensor(TensorId tensor, llvm::ArrayRef<IntExpr> indices,
                 const Facts &facts, const Domain &domain);
  Sum readOpaque(const ExprNode &node, const Scope &scope);
  Sum expand(const Expr &expr, const Scope &scope);
  Sum expandNode(const ExprNode &node, const Scope &scope);
  Sum expandRead(const ExprNode &node, const Scope &scope);
  Sum expandParameter(const ExprNode &node, const Scope &scope);
  Sum expandOtherwise(const ExprNode &read, const Scope &scope);
  Sum expandWhere(const Sum &condition, const Expr &expr, const Scope &scope);
  void joinPaths(size_t first, size_t second, const Sum &left,
                 const Sum &right);
  void leaveOpen(size_t first);
  Sum expandLiterally(const ExprNode &node, std::vector<Sum> operands,
                      const Scope &scope);
  void requireDefined(const ExprNode &node, const Sum &x, const Scope &scope);
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
  void require(Obligation::Kind kind, const Sum &value, mlir::Type type,
               const Scope &scope);
  Sum fail(const llvm::Twine &reason);

  const Definition &definition;
  Normalizer &n;
  Side side;
  /// What holds where the expression stands that is being expanded.
  std::vector<Sum> path;
  unsigned numOpen = 0;
  std::vector<Obligation> obligations;
  std::string failure;
  unsigned depth = 0; // of nested calls of expand
};

} // namespace mlc::verifier

#endif // MLC_VERIFIER_EXPAND_H
