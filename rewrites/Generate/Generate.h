//===- Generate.h - Rules found by enumeration, and proved ------*- C++ -*-===//
//
// Read this header first. How rules come to be (one file for each step):
//
//   Variants        operators with attribute variants; leaves; sizes
//   Catalog   which operators apply to which types, ready to run
//   Enumerate   all graphs up to a size; equal ones in pairs (Graphs, Guided)
//   Prune       pairs that say the same thing, or less than another
//   Emit        a pair as a rule.def with general types
//   Prove       the verifier's word on each family
//   MultiOutput rules with several results, read off proved ones
//   Saturate    which families follow from others; the rest is the basis
//   Templates   rules with solved weights, which nobody enumerates
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
  /// Of the most operators, of one set of leaves: what is left out is a suffix
  /// of the larger operands; 0: none.
  uint64_t maxGraphs = 0;
  /// Proofs that are tried of each kind: of families, of those with leaves
  /// apart, of conditional ones, of variants of the basis; 0: all.
  size_t maxProofs = 0;
  /// Only rules whose weights are solved (Templates.h).
  bool onlyHoles = false;
  /// Of outcomes of proofs that were made before, by the family's text.
  std::map<std::string, Outcome> known;
  /// Called with every outcome that is new, on one thread at a time.
  std::function<void(const std::string &family, const Outcome &)> proved =
      [](const std::string &, const Outcome &) {};
  std::function<void(const std::string &)> progress = [](const std::string &) {
  };
};

/// What a step took.
struct StageReport {
  std::string name;
  uint64_t count = 0; // of what it gave
  double seconds = 0, cpuSeconds = 0;
  uint64_t peakBytes = 0; // of the process, until the stage's end
};

struct LeafSetReport {
  std::string name;
  std::vector<SizeCounts> sizes;
  unsigned numTypes = 0, numTooLarge = 0;
};

/// A family and what came of it.
struct FamilyReport {
  std::string text, name, file;
  bool isLinear = false;
  std::vector<std::string> variants;
  /// In how many instantiations the first variant is equal, of those where it
  /// is defined.
  unsigned agree = 0, compared = 0;
  std::optional<Outcome> outcome; // nothing: not tried
  /// Does not follow from the proved families before it.
  bool isBasis = false;
  /// Of a conditional family: it follows from others, so none of its own is
  /// looked for.
  bool isDerived = false;
};

/// A rule of a basis family: one of its variants, at some ranks.
struct BasisRule {
  std::string name;
  Outcome outcome;
};

/// A rule with several results, read off a rule of the basis.
struct MultiOutputReport {
  std::string name, text;
  std::optional<Outcome> outcome; // nothing: not tried
};

struct GenerateReport {
  std::vector<LeafSetReport> leafSets;
  PruneCounts prune;
  std::vector<StageReport> stages;
  std::vector<FamilyReport> families;
  /// Families of more leaves, of which proved ones with repeated leaves are
  /// instances: for the basis, and counted apart.
  std::vector<FamilyReport> widened;
  /// Families that are equal in some instantiations only: proved ones have a
  /// condition. Counted apart.
  std::vector<FamilyReport> conditional;
  std::vector<BasisRule> basis;
  std::vector<MultiOutputReport> multiOutput;
  HoleRuleReport holes;
  std::vector<std::string> skipped; // what the limits left out

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

/// Outcomes as lines of a file, so that a run can be resumed.
std::string stateHeader(const GenerateOptions &options);
std::string stateLine(const std::string &family, const Outcome &outcome);
/// Reads what stateHeader and stateLine wrote into options.known. A line that
/// was cut off is ignored; a header of other flags is an error.
llvm::Error readState(llvm::StringRef text, GenerateOptions &options);

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_GENERATE_H
