//===- Generation.cpp - Rules found by enumeration, and proved ------------===//

#include "rewrites/Generate/Generation.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlc::generate {

using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static double cpuSeconds(const rusage &usage) {
  auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Stopwatch::Stopwatch(std::vector<StageReport> &stages)
    : stages(stages), last(Clock::now()) {
  getrusage(RUSAGE_SELF, &usage);
}

void Stopwatch::finish(const std::string &name, uint64_t count) {
  rusage now;
  getrusage(RUSAGE_SELF, &now);
  Clock::time_point time = Clock::now();
  stages.push_back({name, count,
                    std::chrono::duration<double>(time - last).count(),
                    cpuSeconds(now) - cpuSeconds(usage),
                    static_cast<uint64_t>(now.ru_maxrss) * 1024});
  usage = now;
  last = time;
}

Generation::Generation(const GenerateOptions &options)
    : options(options), watch(report.stages), pruner(options.jobs) {}

GenerateReport Generation::run() {
  solveWeights();
  if (!options.onlyHoles) {
    enumerate();
    families = pruner.finish();
    report.prune = pruner.getCounts();
    watch.finish("prune", families.always.size());
    describe();
    prove();
    findBasis();
    proveConditional();
    proveBasis();
    proveMultiOutput();
  }
  llvm::append_range(report.families, std::move(holeFamilies));
  return std::move(report);
}

//===----------------------------------------------------------------------===//
// Graphs and pairs
//===----------------------------------------------------------------------===//

/// Enumerates all but the last size first, for all leaf sets.
void Generation::enumerate() {
  EnumerateOptions settings;
  settings.maxOperators = options.maxOperators;
  settings.maxMade = options.maxGraphs;
  settings.jobs = options.jobs;
  settings.progress = options.progress;
  std::vector<std::unique_ptr<Search>> searches;
  for (const LeafSet &leafSet : leafSets()) {
    catalogs.push_back(std::make_unique<Catalog>(leafSet, options.ops));
    searches.push_back(std::make_unique<Search>(*catalogs.back(), settings));
  }
  for (unsigned size = 1; size < options.maxOperators; ++size) {
    for (std::unique_ptr<Search> &search : searches) {
      enumerateSize(*search);
      takePairs(*search);
    }
    pruner.closeSize();
  }
  for (std::unique_ptr<Search> &search : searches) {
    enumerateSize(*search);
    takePairs(*search);
    const Catalog &catalog = search->store.getCatalog();
    report.leafSets.push_back({search->name(), search->enumerator.getCounts(),
                               catalog.numTypes(), catalog.numTooLarge});
    search.reset();
  }
}

void Generation::enumerateSize(Search &search) {
  search.enumerator.runNextSize();
  const SizeCounts &size = search.enumerator.getCounts().back();
  if (!size.isComplete())
    skip(llvm::formatv(
        "{0}: graphs of {1} operators with {2} of {3} graphs as the larger "
        "operand; the first {4}, small ones first, were extended "
        "(max-graphs)",
        search.name(), size.numOperators, size.operands - size.extended,
        size.operands, size.extended));
  if (size.notKept)
    skip(llvm::formatv(
        "{0}: {1} of {2} classes of {3} operators were not kept to be met by "
        "others of that size (out of memory)",
        search.name(), size.notKept, size.representatives + size.notKept,
        size.numOperators));
  if (size.conditionalNotKept)
    skip(llvm::formatv("{0}: {1} of {2} pairs of {3} operators that are equal "
                       "in some instantiations only (too many)",
                       search.name(), size.conditionalNotKept, size.conditional,
                       size.numOperators));
  watch.finish(llvm::formatv("enumerate {0}, {1} operators", search.name(),
                             size.numOperators),
               size.graphs);
}

void Generation::takePairs(Search &search) {
  llvm::ArrayRef<EqualPair> pairs = search.enumerator.getPairs();
  options.progress("comparing pairs of " + search.name());
  pruner.add(search.store, pairs);
  watch.finish(llvm::formatv("pairs of {0}, {1} operators", search.name(),
                             search.enumerator.getCounts().back().numOperators),
               pairs.size());
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Each rule with solved weights is its own family.
void Generation::solveWeights() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HoleRuleOptions settings;
  settings.maxOps = std::min(options.maxOperators, 3u);
  settings.ops = options.ops;
  settings.progress = options.progress;
  for (HoleRule &rule : generateHoleRules(&context, settings, report.holes)) {
    FamilyReport family;
    family.text = rule.text;
    family.name = rule.name;
    family.file = "holes.mlir";
    family.isBasis = true;
    family.isLinear = true;
    Outcome outcome;
    outcome.kind = Verdict::Kind::Proved;
    outcome.floatClass = rule.floatClass;
    outcome.rule = rule.definition;
    outcome.seconds = (rule.solveMs + rule.proveMs) / 1000;
    family.outcome = std::move(outcome);
    holeFamilies.push_back(std::move(family));
  }
  watch.finish("solve weights", report.holes.proved);
}

static bool isOfKind(const std::optional<Outcome> &outcome,
                     Verdict::Kind kind) {
  return outcome && outcome->kind == kind;
}

unsigned GenerateReport::count(Verdict::Kind kind, bool onlyLinear) const {
  return llvm::count_if(families, [&](const FamilyReport &family) {
    return isOfKind(family.outcome, kind) && (family.isLinear || !onlyLinear);
  });
}

unsigned GenerateReport::countMultiOutput(Verdict::Kind kind) const {
  return llvm::count_if(multiOutput, [&](const MultiOutputReport &one) {
    return isOfKind(one.outcome, kind);
  });
}

static unsigned countOf(llvm::ArrayRef<FamilyReport> families,
                        Verdict::Kind kind) {
  return llvm::count_if(families, [&](const FamilyReport &family) {
    return isOfKind(family.outcome, kind);
  });
}

unsigned GenerateReport::countWidened(Verdict::Kind kind) const {
  return countOf(widened, kind);
}

unsigned GenerateReport::countConditional(Verdict::Kind kind) const {
  return countOf(conditional, kind);
}

unsigned GenerateReport::countBasis() const {
  auto isBasis = [](const FamilyReport &family) { return family.isBasis; };
  return llvm::count_if(families, isBasis) + llvm::count_if(widened, isBasis) +
         llvm::count_if(conditional, isBasis);
}

GenerateReport generate(const GenerateOptions &options) {
  return Generation(options).run();
}

} // namespace mlc::generate
