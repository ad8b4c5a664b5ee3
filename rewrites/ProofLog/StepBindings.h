//===- StepBindings.h - A rule's symbols in a step of a trail ---*- C++ -*-===//

#ifndef MLC_REWRITES_PROOFLOG_STEPBINDINGS_H
#define MLC_REWRITES_PROOFLOG_STEPBINDINGS_H

#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// The values of a rule's symbols: integers over the model's symbols, and real
/// numbers.
class StepBindings {
public:
  /// Reads a step's values. Fails if a value cannot be parsed or violates what
  /// the proof assumes (an integer may be negative, a number is not finite or
  /// out of range), if a symbol of the rule has no value, or if another symbol
  /// has one.
  static llvm::Expected<StepBindings> read(Rule &rule, const TrailStep &step);

  IntExpr substitute(IntExpr expr) const;
  mlir::Attribute substitute(mlir::Attribute attribute) const;
  /// The dims of an argument's type.
  llvm::SmallVector<IntExpr> substitute(llvm::ArrayRef<IntExpr> dims) const;

  /// Whether the condition is true, or false, for all non-negative values of
  /// the model's symbols; nullopt if undecided.
  std::optional<bool> decide(const Condition &condition) const;

private:
  llvm::StringMap<IntExpr> integers;
  llvm::StringMap<RealAttr> reals;
};

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_STEPBINDINGS_H
