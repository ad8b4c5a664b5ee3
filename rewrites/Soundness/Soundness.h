//===- Soundness.h - Do the kept rules hold, are wrong ones caught? -------===//
//
// What is proved is checked again with numbers, and rules that are made wrong
// on purpose are given to the prover: the verifier is trusted code, and this is
// how it earns trust.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_SOUNDNESS_SOUNDNESS_H
#define MLC_REWRITES_SOUNDNESS_SOUNDNESS_H

#include "rewrites/Rules/Rule.h"

namespace mlc {

/// What random instantiations showed of one rule.
struct InstantiationResult {
  unsigned equal = 0;
  /// Draws for which the before side has no value, or no domain decided.
  unsigned undecided = 0;
  /// Of those that were equal, the ones in exact arithmetic (the others are
  /// intervals that overlap).
  unsigned exact = 0;
  /// The first difference, in words; empty when there is none.
  std::string failure;
};

/// Draws well-typed instantiations of `rule` under its condition until `count`
/// of them have been evaluated on both sides, or 16 * count tries are over: in
/// the modular or rational domain where one of them knows every function, else
/// in intervals. Stops at the first difference. Deterministic in `seed`.
InstantiationResult checkInstantiations(Rule &rule, unsigned count,
                                        uint64_t seed);

/// Of a rule that is said to be bit-exact: both sides in float32 and in float64
/// on `count` instantiations of all magnitudes, with signed zeros, subnormals,
/// infinities and NaN, must give equal bits (any two NaNs are equal). Stops at
/// the first difference. Deterministic in `seed`.
InstantiationResult checkBits(Rule &rule, unsigned count, uint64_t seed);

/// Of a rule that is said to be reassociating, so that no term comes or goes:
/// where some elements of arguments that are no constants are NaN, on `count`
/// instantiations without sizes of 0, the same elements of both sides' results
/// must be. Stops at the first difference.
InstantiationResult checkSpoiled(Rule &rule, unsigned count, uint64_t seed);

/// A rule made wrong, and how.
struct Mutant {
  std::string origin; // the rule's name
  std::string change; // "attribute strides of mlc.conv: s becomes s + 1"
  mlir::OwningOpRef<mlir::ModuleOp> module; // owns the functions
  mlir::func::FuncOp before, after;
  Assumptions assumptions;
  /// Sizes and values on which the sides differ, found before any proof.
  std::string difference;
  /// Whether an element differs, rather than a shape or what is defined.
  bool isOfValue = false;
};

/// Makes up to `count` different wrong rules from `rules`, in turn: a condition
/// left out, an attribute, axis, operand, constant or operator changed. Only
/// those for which the evaluator shows a difference, four of five in a value.
/// Deterministic in `seed`.
std::vector<Mutant> makeMutants(RuleSet &rules, unsigned count, uint64_t seed);

} // namespace mlc

#endif // MLC_REWRITES_SOUNDNESS_SOUNDNESS_H
