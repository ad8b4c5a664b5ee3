//===- Templates.h - Rules whose after side has solved weights --*- C++ -*-===//
//
// The part of the generator that solves for weights instead of enumerating
// constants. Before sides are chains and pairs of linear operators
// (convolution, batch norm, pooling, scale, bias, residual, padding, matrix
// product); after sides are templates: one contraction, with or without a bias,
// with weights that are not known. Attributes of the template come from the
// access maps of the before side (windows compose as k1 + s1 (k2 - 1), s1 s2,
// p1 + s1 p2) or from a list (k + 2 e with p + e d, fewer groups). Templates
// whose result dims cannot agree are dropped before solving. The weights of the
// others are solved (verifier/search/Holes.h) and the rules are proved.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_TEMPLATES_H
#define MLC_REWRITES_GENERATE_TEMPLATES_H

#include "verifier/Verifier.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace mlc::generate {

struct HoleRuleOptions {
  /// Operators on activations of the before side.
  unsigned maxOps = 3;
  /// Operators of the before side ("conv", "mul"); empty: all.
  std::vector<std::string> ops;
  /// Limits for solving one template, and for one proof.
  VerifierOptions verifier;
  std::function<void(const std::string &)> progress = [](const std::string &) {
  };
};

/// A proved rule.
struct HoleRule {
  std::string name, text;
  /// The rule.def, in the syntax of rewrites/*.mlir without type aliases.
  std::string definition;
  /// Operators on activations of the before side.
  unsigned numOps = 0;
  FloatClass floatClass = FloatClass::ValueChanging;
  double solveMs = 0, proveMs = 0;
};

struct HoleRuleReport {
  unsigned befores = 0;
  /// Graphs that contain the before side of a rule. They are skipped because
  /// their rules follow from that rule and others.
  unsigned derived = 0;
  /// Longer chains that are skipped because a part has no solution.
  unsigned hopeless = 0;
  /// Templates tried, those whose result dims can agree, those whose weights
  /// were solved, and how the proofs ended.
  unsigned templates = 0, fitting = 0, solved = 0;
  unsigned proved = 0, refuted = 0, unknown = 0;
  double seconds = 0;
  struct Times {
    std::string rule;
    double solveSeconds, proveSeconds;
  };
  std::vector<Times> times; // of the proved rules
  /// Name and reason of each rule that was solved but not proved.
  std::vector<std::string> notProved;
};

/// All rules of the list, in a fixed order. Deterministic except for times.
std::vector<HoleRule> generateHoleRules(mlir::MLIRContext *context,
                                        const HoleRuleOptions &options,
                                        HoleRuleReport &report);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_TEMPLATES_H
