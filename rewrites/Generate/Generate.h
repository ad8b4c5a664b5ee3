//===- Generate.h - Rules found by enumeration, and proved ------*- C++ -*-===//
//
// Read this header first. How rules are generated (one file per step):
//
//   Variants    operators with attribute variants; leaves; sizes
//   Catalog     which operators apply to which types, ready to run
//   Enumerate   all graphs up to a size; equal ones in pairs (Graphs, Guided)
//   Prune       drops duplicate pairs and instances of others
//   Emit        a pair as a rule.def with general types
//   Prove       the verifier's verdict on each family
//   MultiOutput rules with several results, derived from proved ones
//   Saturate    which families follow from others; the rest is the basis
//   Templates   rules with solved weights, which are not enumerated
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_GENERATE_H
#define MLC_REWRITES_GENERATE_GENERATE_H

#include "rewrites/Generate/Prove.h"
#include "rewrites/Generate/Templates.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlc::generate {

struct GenerateOptions {
  std::vector<std::string> ops; // empty: all
  unsigned maxOperators = 2;
  unsigned jobs = 1;
  /// Maximum number of graphs of the last size per leaf set. A suffix of the
  /// larger operands is left out; 0: no limit.
  uint64_t maxGraphs = 0;
  /// Maximum number of proofs of each kind: families, widened families,
  /// conditional families, variants of the basis; 0: no limit.
  size_t maxProofs = 0;
  /// Only rules whose weights are solved (Templates.h).
  bool onlyHoles = false;
  /// Outcomes of earlier proofs, by the family's text.
  std::map<std::string, Outcome> known;
  /// Called with every new outcome, on one thread at a time.
  std::function<void(const std::string &family, const Outcome &)> proved =
      [](const std::string &, const Outcome &) {};
  std::function<void(const std::string &)> progress = [](const std::string &) {
  };
};

/// The cost of a step.
struct StageReport {
  std::string name;
  uint64_t count = 0; // of its results
  double seconds = 0, cpuSeconds = 0;
  uint64_t peakBytes = 0; // of the process, up to the end of the stage
};

struct LeafSetReport {
  std::string name;
  std::vector<SizeCounts> sizes;
  unsigned numTypes = 0, numTooLarge = 0;
};

/// A family and its outcome.
struct FamilyReport {
  std::string text, name, file;
  bool isLinear = false;
  std::vector<std::string> variants;
  /// In how many instantiations the first variant is equal, out of those where
  /// it is defined.
  unsigned agree = 0, compared = 0;
  std::optional<Outcome> outcome; // nothing: not tried
  /// Whether it does not follow from the proved families before it.
  bool isBasis = false;
  /// For a conditional family: it follows from others, so no condition is
  /// searched for it.
  bool isDerived = false;
};

/// A rule of a basis family: one of its variants, at some ranks.
struct BasisRule {
  std::string name;
  Outcome outcome;
};

/// A rule with several results, derived from a rule of the basis.
struct MultiOutputReport {
  std::string name, text;
  std::optional<Outcome> outcome; // nothing: not tried
};

struct GenerateReport {
  std::vector<LeafSetReport> leafSets;
  PruneCounts prune;
  std::vector<StageReport> stages;
  std::vector<FamilyReport> families;
  /// Families with more leaves, such that proved ones with repeated leaves are
  /// instances: for the basis, and counted separately.
  std::vector<FamilyReport> widened;
  /// Families that are equal only in some instantiations; proved ones have a
  /// condition. Counted separately.
  std::vector<FamilyReport> conditional;
  std::vector<BasisRule> basis;
  std::vector<MultiOutputReport> multiOutput;
  HoleRuleReport holes;
  std::vector<std::string> skipped; // work that the limits left out

  unsigned count(Verdict::Kind kind, bool onlyLinear) const;
  unsigned countMultiOutput(Verdict::Kind kind) const;
  unsigned countWidened(Verdict::Kind kind) const;
  unsigned countConditional(Verdict::Kind kind) const;
  /// Families of the basis, with and without a condition.
  unsigned countBasis() const;
};

GenerateReport generate(const GenerateOptions &options);

/// The rules of the families that were proved, by file name ("matmul.mlir"),
/// those with several results ("multi-output.mlir"), those that are unknown
/// ("unknown.mlir"), and the basis with all its variants and ranks and the
/// rules with several results ("basis.mlir").
std::map<std::string, std::string> ruleFiles(const GenerateReport &report);

/// The report as JSON. Everything but `stages` and keys called `seconds` is
/// the same for the same flags.
llvm::json::Value toJson(const GenerateReport &report,
                         const GenerateOptions &options);

/// Outcomes as lines of a file from which a run can be resumed.
std::string stateHeader(const GenerateOptions &options);
std::string stateLine(const std::string &family, const Outcome &outcome);
/// Reads the output of stateHeader and stateLine into options.known. A
/// truncated line is ignored; a header with other flags is an error.
llvm::Error readState(llvm::StringRef text, GenerateOptions &options);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_GENERATE_H
