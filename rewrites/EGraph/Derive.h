//===- Derive.h - Does a rule follow from others? ---------------*- C++ -*-===//

#ifndef MLC_REWRITES_EGRAPH_DERIVE_H
#define MLC_REWRITES_EGRAPH_DERIVE_H

#include "rewrites/EGraph/Saturate.h"
#include <deque>

namespace mlc {

/// Compiled rules from which others are derived. Reused across queries.
class KnownRules {
public:
  enum class Use {
    Equations, // in both directions, where that is possible
    Steps,     // from before to after, as a search uses them
  };
  explicit KnownRules(Use use = Use::Equations) : use(use) {}
  explicit KnownRules(RuleSet &rules, Use use = Use::Equations) : use(use) {
    for (const Rule &rule : rules.rules)
      add(rule);
  }
  /// The rule's IR must outlive this.
  void add(const Rule &rule);

  llvm::ArrayRef<const egraph::RuleProgram *> getPrograms() const {
    return programs;
  }

private:
  Use use;
  std::deque<Rule> rules;
  std::vector<std::unique_ptr<egraph::RuleProgram>> owned;
  std::vector<const egraph::RuleProgram *> programs;
};

/// Small limits without a clock, so that the answer is always the same.
egraph::SaturationLimits derivationLimits();

/// Whether `before` = `after` follows from the known rules: both functions go
/// into one e-graph with common arguments, and the known rules make their
/// results equal within the limits, given `assumptions`. False means only that
/// no derivation was found.
bool provesBySaturation(
    mlir::func::FuncOp before, mlir::func::FuncOp after,
    const Assumptions &assumptions, const KnownRules &known,
    const egraph::SaturationLimits &limits = derivationLimits());

/// Whether a search that has the known rules (as steps) gains nothing by
/// `rule`: what they reach from `before` contains `after`, up to how weights
/// are computed. Sizes of arguments are assumed to be at least 1. False means
/// only that it was not found, as for symbols that only `after` has.
bool isRedundant(const Rule &rule, const KnownRules &known,
                 egraph::SaturationLimits limits = derivationLimits());

} // namespace mlc

#endif // MLC_REWRITES_EGRAPH_DERIVE_H
