//===- Prove.h - Proofs of families -----------------------------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_PROVE_H
#define MLC_REWRITES_GENERATE_PROVE_H

#include "rewrites/Generate/Emit.h"
#include "rewrites/Generate/Prune.h"
#include "verifier/Verifier.h"

namespace mlc::generate {

/// The outcome of a family's proof.
struct Outcome {
  /// Whether a condition was learned.
  bool isConditional = false;
  Verdict::Kind kind = Verdict::Kind::Unknown;
  FloatClass floatClass = FloatClass::ValueChanging;
  /// The rule as text: proved, or the last one tried.
  std::string rule;
  std::string reason; // or the counterexample
  double seconds = 0;
  unsigned variant = 0; // number in the family of the one proved or refuted
};

struct ProveOptions {
  /// The share of the verifier's usual effort per proof, because many are
  /// tried.
  double effort = 0.05;
  /// Maximum number of variants of a family to try before it counts as not
  /// proved.
  unsigned maxVariants = 2;
  /// The pattern is not equal everywhere. Unless it is proved without one, a
  /// condition is searched; one that only fixes a size (`k == 1`) does not
  /// count.
  bool needsCondition = false;
};

/// Proves one pattern at the ranks of `shape`.
Outcome provePattern(const Pattern &pattern, llvm::StringRef name, Shape shape,
                     const ProveOptions &options);

/// Proves a rule given as text (ruleText).
Outcome proveRule(llvm::StringRef rule, const ProveOptions &options);

/// Proves a family's first variant that can be proved: under its most general
/// types, under those of its leaf set, with all dims at least 1, or, if it is
/// refuted, under the weakest condition found. `name` is the rule's name.
/// Deterministic except for `seconds`.
Outcome proveFamily(const Family &family, llvm::StringRef name,
                    const ProveOptions &options);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PROVE_H
