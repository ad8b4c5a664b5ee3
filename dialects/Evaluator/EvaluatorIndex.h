//===- EvaluatorIndex.h - Index expressions as linear forms -----*- C++ -*-===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATORINDEX_H
#define MLC_DIALECTS_EVALUATOR_EVALUATORINDEX_H

#include "dialects/Evaluator/EvaluatorProgram.h"
#include "llvm/ADT/DenseMap.h"

namespace mlc::evaluator {

/// Coefficients beyond this would overflow in sums of products.
inline constexpr int64_t formLimit = int64_t(1) << 55;

/// Reads index expressions as linear forms over loops of known extents.
class IndexForms {
public:
  explicit IndexForms(const llvm::StringMap<int64_t> &symbols)
      : symbols(symbols) {}

  llvm::DenseMap<unsigned, int64_t> extents; // by loop id

  llvm::Expected<int64_t> evaluate(IntExpr expr) const;
  /// The linear form of an index. Quotients, remainders, minima and maxima have
  /// one if bounds decide them. Nothing otherwise.
  std::optional<Form> asForm(const Expr &expr) const;
  /// Least and largest value over the loops.
  using Bounds = std::pair<__int128, __int128>;
  Bounds boundsOf(const Form &form) const;

private:
  std::optional<Form> binaryForm(const ExprNode &node) const;
  std::optional<Form> dividedForm(BinaryFn fn, const Form &form,
                                  const Form &by) const;
  bool isSafe(const Form &form) const;

  const llvm::StringMap<int64_t> &symbols;
};

} // namespace mlc::evaluator

#endif // MLC_DIALECTS_EVALUATOR_EVALUATORINDEX_H
