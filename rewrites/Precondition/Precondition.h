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
// learn again; then prove, and learn from what refutes the proof.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PRECONDITION_PRECONDITION_H
#define MLC_REWRITES_PRECONDITION_PRECONDITION_H

#include "verifier/Verifier.h"

namespace mlc {

struct SynthesisOptions {
  /// Of each proof attempt.
  VerifierOptions verifier;
  uint64_t seed = 1;
  unsigned firstSamples = 120;
  unsigned freshSamples = 600;
  unsigned maxRounds = 10;
  /// Conditions that are alike on all samples, tried one after another while
  /// the prover answers Unknown.
  unsigned maxProofs = 6;
  /// Whether predicates of elements may speak of arguments that the base
  /// assumptions do not call constant. A rule with such a predicate applies
  /// only where the argument is constant after all.
  bool anyArgument = false;
};

struct SynthesizedCondition {
  /// The functions are equal under the base assumptions and any one of these.
  /// One that is empty: always. Empty: no condition was found.
  std::vector<Assumptions> alternatives;
  /// Proved when every alternative is; else what is known of the first that is
  /// not.
  Verdict verdict;
  /// Whether the condition holds on every valid sample, so that no weaker one
  /// is known. Samples with a dim of 1 that are valid by coincidence do not
  /// count.
  bool isWeakest = false;
  unsigned rounds = 0, samples = 0, validSamples = 0;
  double seconds = 0.0;

  bool wasFound() const { return !alternatives.empty(); }
  bool isProved() const { return wasFound() && verdict.isProved(); }
  /// `g == 1`, `v == 0 or p == 0`; "always" when nothing need be assumed.
  std::string text() const;
  /// All alternatives as one conjunction, where their disjunction can be stated
  /// in one rule (each condition is a literal or an AnyOf of literals).
  std::optional<Assumptions> asOneRule() const;
};

/// When `after` gives what `before` gives, beyond `base`. Deterministic.
SynthesizedCondition synthesizeCondition(mlir::func::FuncOp before,
                                         mlir::func::FuncOp after,
                                         const Assumptions &base,
                                         const SynthesisOptions &options = {});

} // namespace mlc

#endif // MLC_REWRITES_PRECONDITION_PRECONDITION_H
