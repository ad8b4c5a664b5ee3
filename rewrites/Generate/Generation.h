//===- Generation.h - The stages of a generation ----------------*- C++ -*-===//
//
// Internal to Generation.cpp (graphs, pairs, weights) and GenerateProofs.cpp
// (families).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_GENERATE_GENERATION_H
#define MLC_REWRITES_GENERATE_GENERATION_H

#include "rewrites/Generate/Generate.h"
#include "rewrites/Generate/Saturate.h"
#include <chrono>
#include <sys/resource.h>

namespace mlc::generate {

/// Measures stages one after another.
class Stopwatch {
public:
  explicit Stopwatch(std::vector<StageReport> &stages);
  void finish(const std::string &name, uint64_t count);

private:
  std::vector<StageReport> &stages;
  std::chrono::steady_clock::time_point last;
  rusage usage;
};

class Generation {
public:
  explicit Generation(const GenerateOptions &options);
  GenerateReport run();

private:
  /// A leaf set and its enumeration.
  struct Search {
    Search(Catalog &catalog, const EnumerateOptions &options)
        : store(catalog), enumerator(store, options) {}
    const std::string &name() const {
      return store.getCatalog().getLeafSet().name;
    }
    GraphStore store;
    Enumerator enumerator;
  };
  /// A variant of a family of the basis.
  struct Variation {
    const Pattern *pattern;
    ProveOptions options;
  };
  /// A rule of the basis: a variant at some ranks.
  struct Statement {
    BasisRule rule;
    const Pattern *pattern;
    Shape shape;
    ProveOptions options;
    std::string key;
  };

  void skip(std::string what) { report.skipped.push_back(std::move(what)); }
  /// The number of proofs out of `count` to try; reports the others as skipped.
  size_t limitProofs(size_t count, llvm::StringRef what);

  // Graphs, pairs and weights: Generation.cpp.
  void enumerate();
  void enumerateSize(Search &search);
  void takePairs(Search &search);
  void solveWeights();

  // Families: GenerateProofs.cpp.
  void describe();
  FamilyReport describe(const Family &family,
                        std::map<std::string, unsigned> &taken);
  void prove();
  /// Outcomes are known under `prefix` followed by the family's text.
  void proveEach(std::vector<FamilyReport> &reports,
                 llvm::ArrayRef<Family> families, llvm::ArrayRef<size_t> order,
                 const ProveOptions &settings, llvm::StringRef what,
                 llvm::StringRef prefix);
  void findBasis();
  struct Candidate {
    FamilyReport *report;
    const Family *family;
  };
  /// Sorted by the size of their terms.
  std::vector<Candidate> provedFamilies();
  /// Takes the families that do not follow from earlier ones.
  void takeBasis();
  /// Finds and proves families with more leaves, such that families of the
  /// basis with repeated leaves are instances.
  void widen();
  std::vector<Family> widerFamilies();
  void proveConditional();
  /// Conditional families that do not follow from others.
  std::vector<size_t> selectConditional();
  std::vector<Variation> basisVariations();
  std::vector<Statement> basisStatements();
  void proveBasis();
  std::vector<MultiOutputReport> nominateMultiOutput();
  void proveMultiOutput();
  Catalog &catalogOf(const Pattern &pattern);

  const GenerateOptions &options;
  GenerateReport report;
  Stopwatch watch;
  Pruner pruner;
  /// Patterns of families look up types in them.
  std::vector<std::unique_ptr<Catalog>> catalogs;
  Families families;
  std::vector<Family> widened;
  /// All variants of the families of the basis.
  KnownRules known;
  /// Rules with solved weights; they are reported after the others.
  std::vector<FamilyReport> holeFamilies;
};

} // namespace mlc::generate

#endif // MLC_REWRITES_GENERATE_GENERATION_H
