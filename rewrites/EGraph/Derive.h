//===- Derive.h - Does a rule follow from others? ---------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_DERIVE_H
#define MLC_REWRITES_EGRAPH_DERIVE_H

#include "rewrites/EGraph/Saturate.h"
#include <deque>

namespace mlc {

/// Rules made ready to derive others from, as equations: each in both
/// directions where that is possible. Kept from question to question.
class KnownRules {
public:
  KnownRules() = default;
  explicit KnownRules(RuleSet &rules) {
    for (const Rule &rule : rules.rules)
      add(rule);
  }
  /// The rule's IR must outlive this.
  void add(const Rule &rule);

  llvm::ArrayRef<const egraph::RuleProgram *> getPrograms() const {
    return programs;
  }

private:
  std::deque<Rule> rules;
  std::vector<std::unique_ptr<egraph::RuleProgram>> owned;
  std::vector<const egraph::RuleProgram *> programs;
};

/// Small, and without a clock: so that the answer is always the same.
egraph::SaturationLimits derivationLimits();

/// Whether `before` = `after` follows from the known rules: both functions go
/// into one e-graph with common arguments, and the known rules make their
/// results equal within the limits. `assumptions` are taken for granted. False
/// says nothing but that no derivation was found.
bool provesBySaturation(
    mlir::func::FuncOp before, mlir::func::FuncOp after,
    const Assumptions &assumptions, const KnownRules &known,
    const egraph::SaturationLimits &limits = derivationLimits());

} // namespace mlc

#endif // MLC_REWRITES_EGRAPH_DERIVE_H
