//===- StepBindings.h - A rule's symbols in a step of a trail -*- C++ -*-===//

#ifndef MLC_REWRITES_PROOFLOG_STEPBINDINGS_H
#define MLC_REWRITES_PROOFLOG_STEPBINDINGS_H

#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// What stands for a rule's symbols: integers over the model's symbols, and
/// numbers.
class StepBindings {
public:
  /// Reads a step's values. Fails where one cannot be read or is not what the
  /// proof assumes (an integer may be negative, a number is not finite or out
  /// of range), where a symbol of the rule has none, and where another has one.
  static llvm::Expected<StepBindings> read(Rule &rule, const TrailStep &step);

  IntExpr substitute(IntExpr expr) const;
  mlir::Attribute substitute(mlir::Attribute attribute) const;
  /// The dims of an argument's type.
  llvm::SmallVector<IntExpr> substitute(llvm::ArrayRef<IntExpr> dims) const;

  /// Truth for every non-negative value of the model's symbols; nothing where
  /// that cannot be told.
  std::optional<bool> decide(const Condition &condition) const;

private:
  llvm::StringMap<IntExpr> integers;
  llvm::StringMap<RealAttr> reals;
};

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_STEPBINDINGS_H
