//===- Prove.h - Families become rules --------------------------*- C++ -*-===//

#ifndef MLC_REWRITES_GENERATE_PROVE_H
#define MLC_REWRITES_GENERATE_PROVE_H

#include "rewrites/Generate/Emit.h"
#include "rewrites/Generate/Prune.h"
#include "verifier/Verifier.h"

namespace mlc::generate {

/// What came of a family.
struct Outcome {
  /// Whether a condition was learned.
  bool isConditional = false;
  Verdict::Kind kind = Verdict::Kind::Unknown;
  FloatClass floatClass = FloatClass::ValueChanging;
  /// The rule as text: proved, or the last one tried.
  std::string rule;
  std::string reason; // or the counterexample
  double seconds = 0;
  unsigned variant = 0; // of the family, that was proved or refuted
};

struct ProveOptions {
  /// Of the verifier's usual work for one proof: many are tried.
  double effort = 0.05;
  /// Variants of a family that are tried before it counts as not proved.
  unsigned maxVariants = 2;
  /// The pattern is not equal everywhere: a condition is looked for unless it
  /// is proved after all, and one that only fixes a size (`k == 1`) is none.
  bool needsCondition = false;
};

/// What the verifier says of one pattern at some ranks.
Outcome provePattern(const Pattern &pattern, llvm::StringRef name, Shape shape,
                     const ProveOptions &options);

/// What it says of a rule as it stands (ruleText).
Outcome proveRule(llvm::StringRef rule, const ProveOptions &options);

/// Proves a family's first variant that can be proved: under its most general
/// types, under those of its leaf set, with all dims at least 1, or, where it
/// is refuted, under the weakest condition that is found. `name` is the rule's.
/// Deterministic but for `seconds`.
Outcome proveFamily(const Family &family, llvm::StringRef name,
                    const ProveOptions &options);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_PROVE_H
