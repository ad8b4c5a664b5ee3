//===- Precondition.h - When does a rewrite hold? ---------------*- C++ -*-===//
//
// The weakest condition, in a small vocabulary, under which two functions are
// equal: learned from labelled instantiations, then proved.
//
//   Samples      well-typed instantiations, valid or invalid by the evaluator
//   Vocabulary   literals over dims, attributes, quantities derived from them,
//                real parameters and elements of arguments
//   Learner      the cheapest conjunction, else a small disjunction of them
//
// The loop: learn from few samples, test on many fresh ones, add the errors,
// learn again; then prove, and learn from counterexamples.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PRECONDITION_PRECONDITION_H
#define MLC_REWRITES_PRECONDITION_PRECONDITION_H

#include "verifier/Verifier.h"

namespace mlc {

struct SynthesisOptions {
  /// Limits of each proof attempt.
  VerifierOptions verifier;
  uint64_t seed = 1;
  unsigned firstSamples = 120;
  unsigned freshSamples = 600;
  unsigned maxRounds = 10;
  /// Maximum number of conditions with equal truth on all samples to try while
  /// the prover answers Unknown.
  unsigned maxProofs = 6;
  /// Whether element predicates may restrict arguments that the base
  /// assumptions do not declare constant. A rule with such a predicate applies
  /// only if the argument is constant after all.
  bool anyArgument = false;
};

struct SynthesizedCondition {
  /// The functions are equal under the base assumptions and any one of these.
  /// An empty alternative always holds. Without alternatives, no condition was
  /// found.
  std::vector<Assumptions> alternatives;
  /// Proved if every alternative is; otherwise the verdict on the first that is
  /// not.
  Verdict verdict;
  /// Whether the condition holds on every valid sample, so that no weaker one
  /// is known. Samples that are valid only because a dim is 1 do not count.
  bool isWeakest = false;
  unsigned rounds = 0, samples = 0, validSamples = 0;
  double seconds = 0.0;

  bool wasFound() const { return !alternatives.empty(); }
  bool isProved() const { return wasFound() && verdict.isProved(); }
  /// `g == 1`, `v == 0 or p == 0`; "always" if no assumption is needed.
  std::string text() const;
  /// All alternatives as one conjunction, if one rule can state their
  /// disjunction (each condition is a literal or an AnyOf of literals).
  std::optional<Assumptions> asOneRule() const;
};

/// The condition, beyond `base`, under which `after` equals `before`.
/// Deterministic.
SynthesizedCondition synthesizeCondition(mlir::func::FuncOp before,
                                         mlir::func::FuncOp after,
                                         const Assumptions &base,
                                         const SynthesisOptions &options = {});

} // namespace mlc

#endif // MLC_REWRITES_PRECONDITION_PRECONDITION_H
