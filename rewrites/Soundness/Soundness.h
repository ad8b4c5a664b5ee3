//===- Soundness.h - Tests of proved and of wrong rules -------------------===//
//
// Checks proved rules again with numbers, and gives the prover rules that are
// wrong on purpose: the verifier is trusted code, and these tests justify the
// trust.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_SOUNDNESS_SOUNDNESS_H
#define MLC_REWRITES_SOUNDNESS_SOUNDNESS_H

#include "rewrites/Rules/Rule.h"

namespace mlc {

/// The result of random instantiations of one rule.
struct InstantiationResult {
  unsigned equal = 0;
  /// Draws for which the before side has no value, or that no domain decided.
  unsigned undecided = 0;
  /// How many of the equal ones were in exact arithmetic (the others are
  /// intervals that overlap).
  unsigned exact = 0;
  /// The first difference, in words; empty when there is none.
  std::string failure;
};

/// Draws well-typed instantiations of `rule` under its condition until `count`
/// of them have been evaluated on both sides, or 16 * count tries are over: in
/// the modular or rational domain if one of them supports every function, else
/// in intervals. Stops at the first difference. Deterministic in `seed`.
InstantiationResult checkInstantiations(Rule &rule, unsigned count,
                                        uint64_t seed);

/// Checks a rule declared bit-exact: both sides in float32 and in float64 must
/// give equal bits (any two NaNs are equal) on `count` instantiations of all
/// magnitudes, with signed zeros, subnormals, infinities and NaN. Stops at the
/// first difference. Deterministic in `seed`.
InstantiationResult checkBits(Rule &rule, unsigned count, uint64_t seed);

/// Checks a rule declared reassociating, which neither adds nor drops terms. If
/// some elements of non-constant arguments are NaN, the same elements of both
/// sides' results must be NaN, on `count` instantiations without sizes of 0.
/// Stops at the first difference.
InstantiationResult checkSpoiled(Rule &rule, unsigned count, uint64_t seed);

/// A rule that was made wrong, and the change.
struct Mutant {
  std::string origin; // the rule's name
  std::string change; // "attribute strides of mlc.conv: s becomes s + 1"
  mlir::OwningOpRef<mlir::ModuleOp> module; // owns the functions
  mlir::func::FuncOp before, after;
  Assumptions assumptions;
  /// Sizes and values on which the sides differ, found before any proof.
  std::string difference;
  /// Whether an element differs, rather than a shape or definedness.
  bool isOfValue = false;
};

/// Makes up to `count` different wrong rules from `rules`, in turn: a condition
/// left out, an attribute, axis, operand, constant or operator changed. Keeps
/// only those for which the evaluator shows a difference; in four of five it is
/// in a value. Deterministic in `seed`.
std::vector<Mutant> makeMutants(RuleSet &rules, unsigned count, uint64_t seed);

} // namespace mlc

#endif // MLC_REWRITES_SOUNDNESS_SOUNDNESS_H
