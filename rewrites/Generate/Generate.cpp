//===- Generate.cpp - Rules found by enumeration, and proved --------------===//

#include "rewrites/Generate/Generate.h"
#include "rewrites/Generate/Emit.h"
#include "rewrites/Generate/Parallel.h"
#include "rewrites/Generate/Saturate.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <sys/resource.h>

namespace mlc::generate {

namespace {

using Clock = std::chrono::steady_clock;

double cpuSeconds(const rusage &usage) {
  auto seconds = [](const timeval &t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Measures stages one after another.
class Stopwatch {
public:
  explicit Stopwatch(std::vector<StageReport> &stages) : stages(stages) {
    getrusage(RUSAGE_SELF, &usage);
  }
  void finish(const std::string &name, uint64_t count) {
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

private:
  std::vector<StageReport> &stages;
  Clock::time_point last = Clock::now();
  rusage usage;
};

constexpr size_t maxConditionalListed = 1000;

// Shares of the time limit by which a stage ends: rules with solved weights,
// pairs of equal graphs, proofs of families, the basis. The rest is for
// variants and ranks of the basis.
constexpr double weightsShare = 0.1, pairsShare = 0.4, proofShare = 0.8,
                 basisShare = 0.84;
/// Of the time of a world, what is for graphs; the rest is for their pairs.
constexpr double graphsOfSlot = 0.6;

class Generation {
public:
  explicit Generation(const GenerateOptions &options)
      : options(options), start(Clock::now()), watch(report.stages),
        pruner(options.jobs) {}

  GenerateReport run() {
    solveWeights();
    if (!options.onlyHoles) {
      enumerate();
      std::vector<Family> families = pruner.finish();
      report.prune = pruner.getCounts();
      watch.finish("prune", families.size());
      describe(families);
      prove(families);
      watch.finish("prove", report.count(Verdict::Kind::Proved, false));
      findBasis(families);
      watch.finish("basis", llvm::count_if(report.families,
                                           [](const FamilyReport &family) {
                                             return family.isBasis;
                                           }));
      proveBasis(families);
      watch.finish("variants and ranks of the basis", report.basis.size());
    }
    llvm::append_range(report.families, std::move(holeFamilies));
    return std::move(report);
  }

private:
  /// A world, and what is enumerated of it.
  struct Search {
    Search(Workbench &workbench, const EnumerateOptions &options)
        : store(workbench), enumerator(store, options) {}
    const std::string &name() const {
      return store.getWorkbench().getWorld().name;
    }
    GraphStore store;
    Enumerator enumerator;
    double seconds = 0; // that it took so far
  };

  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  /// `share` of the time is over.
  bool isOver(double share) const {
    return options.timeLimitSeconds > 0 &&
           elapsed() > share * options.timeLimitSeconds;
  }
  void enumerate();
  void enumerateSize(Search &search, double share);
  void takePairs(Search &search, double share);
  void listConditional(const GraphStore &store,
                       llvm::ArrayRef<EqualPair> pairs);
  void describe(const std::vector<Family> &families);
  void prove(const std::vector<Family> &families);
  void findBasis(const std::vector<Family> &families);
  void proveBasis(const std::vector<Family> &families);
  Workbench &workbenchOf(const Pattern &pattern) {
    return **llvm::find_if(workbenches, [&](const auto &workbench) {
      return workbench.get() == &pattern.getWorkbench();
    });
  }
  void solveWeights();

  const GenerateOptions &options;
  GenerateReport report;
  Clock::time_point start;
  Stopwatch watch;
  Pruner pruner;
  /// Patterns of families ask them for types.
  std::vector<std::unique_ptr<Workbench>> workbenches;
  /// Rules with solved weights; they are reported behind the others.
  std::vector<FamilyReport> holeFamilies;
};

/// Graphs of fewer operators than the most come first, of all worlds, and
/// whatever their share of the time: with them something whole is there. What
/// is left of the share is divided among worlds by what they took so far; what
/// one of them leaves is for those behind it.
void Generation::enumerate() {
  EnumerateOptions settings;
  settings.maxOperators = options.maxOperators;
  settings.jobs = options.jobs;
  settings.progress = options.progress;
  std::vector<std::unique_ptr<Search>> searches;
  for (const World &world : worlds()) {
    workbenches.push_back(std::make_unique<Workbench>(world, options.ops));
    searches.push_back(std::make_unique<Search>(*workbenches.back(), settings));
  }
  for (unsigned size = 1; size < options.maxOperators; ++size) {
    for (std::unique_ptr<Search> &search : searches) {
      double before = elapsed();
      enumerateSize(*search, 1.0);
      takePairs(*search, 1.0);
      search->seconds += elapsed() - before;
    }
    pruner.closeSize();
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    double left = 0;
    for (size_t k = i; k < searches.size(); ++k)
      left += searches[k]->seconds;
    double now = options.timeLimitSeconds > 0
                     ? elapsed() / options.timeLimitSeconds
                     : 0,
           slot = std::max(0.0, pairsShare - now) *
                  (left > 0 ? searches[i]->seconds / left : 1.0);
    enumerateSize(*searches[i], now + slot * graphsOfSlot);
    takePairs(*searches[i], now + slot);
    const Workbench &workbench = searches[i]->store.getWorkbench();
    report.worlds.push_back({searches[i]->name(),
                             searches[i]->enumerator.getCounts(),
                             workbench.numTypes(), workbench.numTooLarge});
    searches[i].reset();
  }
}

void Generation::enumerateSize(Search &search, double share) {
  search.enumerator.runNextSize([&] { return isOver(share); });
  const SizeCounts &size = search.enumerator.getCounts().back();
  if (!size.isComplete())
    report.skipped.push_back(llvm::formatv(
        "{0}: graphs of {1} operators with {2} of {3} graphs as the larger "
        "operand; the first {4}, small ones first, were extended (out of time)",
        search.name(), size.numOperators, size.operands - size.extended,
        size.operands, size.extended));
  if (size.notKept)
    report.skipped.push_back(llvm::formatv(
        "{0}: {1} of {2} classes of {3} operators were not kept to be met by "
        "others of that size (out of memory)",
        search.name(), size.notKept, size.representatives + size.notKept,
        size.numOperators));
  watch.finish(llvm::formatv("enumerate {0}, {1} operators", search.name(),
                             size.numOperators),
               size.graphs);
}

void Generation::takePairs(Search &search, double share) {
  llvm::ArrayRef<EqualPair> pairs = search.enumerator.getPairs();
  options.progress("comparing pairs of " + search.name());
  size_t taken = pruner.add(search.store, pairs, [&] { return isOver(share); });
  const SizeCounts &size = search.enumerator.getCounts().back();
  if (taken < pairs.size())
    report.skipped.push_back(llvm::formatv(
        "{0}: {1} of {2} pairs of {3} operators (out of time)", search.name(),
        pairs.size() - taken, pairs.size(), size.numOperators));
  listConditional(search.store, pairs);
  watch.finish(llvm::formatv("pairs of {0}, {1} operators", search.name(),
                             size.numOperators),
               taken);
}

void Generation::listConditional(const GraphStore &store,
                                 llvm::ArrayRef<EqualPair> pairs) {
  std::set<std::string> seen;
  for (const EqualPair &pair : pairs) {
    if (!pair.isConditional() || seen.size() == maxConditionalListed)
      continue;
    Pattern pattern(store, pair);
    std::string text = pattern.text(Detail::Variant);
    if (pattern.commonOperators().empty() && seen.insert(text).second)
      report.conditional.push_back({text, pair.agree, pair.compared});
  }
}

/// Names are given in the order of families, before anything is proved.
void Generation::describe(const std::vector<Family> &families) {
  std::map<std::string, unsigned> taken;
  for (const Family &family : families) {
    const Pattern &pattern = family.variants[0];
    FamilyReport one;
    one.text = family.text;
    one.isLinear = family.isLinear;
    one.name = ruleName(pattern);
    if (unsigned number = ++taken[one.name]; number > 1)
      one.name += "_" + std::to_string(number);
    const TermNode &root = pattern.getNodes()[pattern.getBefore()];
    one.file = pattern.variantOf(root).op + ".mlir";
    for (const Pattern &variant : family.variants)
      one.variants.push_back(variant.text(Detail::Variant));
    report.families.push_back(std::move(one));
  }
}

void Generation::prove(const std::vector<Family> &families) {
  // Families without repeated leaves first: they are what counts.
  std::vector<size_t> order;
  for (bool isLinear : {true, false})
    for (auto [i, family] : llvm::enumerate(report.families))
      if (family.isLinear == isLinear)
        order.push_back(i);
  std::mutex mutex;
  std::atomic<unsigned> done = 0, proved = 0, skipped = 0;
  forEach(order.size(), options.jobs, [&](size_t k, unsigned) {
    FamilyReport &family = report.families[order[k]];
    auto known = options.known.find(family.text);
    if (known != options.known.end()) {
      family.outcome = known->second;
    } else if (isOver(proofShare)) {
      ++skipped;
      return;
    } else {
      family.outcome = proveFamily(families[order[k]], family.name, {});
    }
    ++done;
    proved += family.outcome->kind == Verdict::Kind::Proved;
    std::lock_guard<std::mutex> lock(mutex);
    if (known == options.known.end())
      options.proved(family.text, *family.outcome);
    options.progress(llvm::formatv("proving: {0} of {1} families, {2} proved",
                                   done.load(), order.size(), proved.load()));
  });
  if (!skipped)
    return;
  size_t linear = llvm::count_if(report.families, [](const FamilyReport &one) {
    return one.isLinear && !one.outcome;
  });
  report.skipped.push_back(llvm::formatv(
      "the proofs of {0} of {1} families, {2} of them without a repeated leaf "
      "(out of time)",
      skipped.load(), order.size(), linear));
}

/// Families come small ones first, so that a family follows from smaller ones
/// where it can.
void Generation::findBasis(const std::vector<Family> &families) {
  KnownRules known;
  unsigned left = 0;
  for (auto [i, family] : llvm::enumerate(report.families)) {
    if (!family.outcome || family.outcome->kind != Verdict::Kind::Proved)
      continue;
    if (isOver(basisShare)) {
      ++left;
      continue;
    }
    const Pattern &pattern = families[i].variants[family.outcome->variant];
    family.isBasis = !follows(pattern, known, workbenchOf(pattern));
    if (family.isBasis)
      for (const Pattern &variant : families[i].variants)
        known.add(variant);
    if (i % 16 == 0)
      options.progress(llvm::formatv("looking for a basis: {0} of {1} families",
                                     i, families.size()));
  }
  if (left)
    report.skipped.push_back(llvm::formatv(
        "whether {0} families follow from others (out of time)", left));
}

void Generation::proveBasis(const std::vector<Family> &families) {
  struct Statement {
    BasisRule rule;
    const Pattern *pattern;
    Shape shape;
    std::string key;
  };
  std::vector<Statement> statements;
  std::set<std::string> taken;
  for (auto [i, family] : llvm::enumerate(report.families)) {
    if (!family.isBasis)
      continue;
    for (auto [v, variant] : llvm::enumerate(families[i].variants)) {
      std::vector<Shape> shapes = otherShapes(variant);
      shapes.insert(shapes.begin(), Shape{});
      for (Shape shape : shapes) {
        std::string name = ruleName(variant);
        if (shape.kind == Shape::Kind::TwoDims)
          name += "_2d";
        if (shape.kind == Shape::Kind::Rank)
          name += "_rank" + std::to_string(shape.rank);
        std::string unique = name;
        for (unsigned k = 2; !taken.insert(unique).second; ++k)
          unique = name + "_" + std::to_string(k);
        statements.push_back(
            {{unique, i, {}}, &variant, shape, "basis: " + unique});
      }
    }
  }
  std::mutex mutex;
  std::atomic<unsigned> done = 0, skipped = 0;
  forEach(statements.size(), options.jobs, [&](size_t s, unsigned) {
    Statement &one = statements[s];
    auto known = options.known.find(one.key);
    if (known != options.known.end())
      one.rule.outcome = known->second;
    else if (isOver(1.0))
      ++skipped;
    else
      one.rule.outcome =
          provePattern(*one.pattern, one.rule.name, one.shape, {});
    ++done;
    std::lock_guard<std::mutex> lock(mutex);
    bool isNew = known == options.known.end() && !one.rule.outcome.rule.empty();
    if (isNew)
      options.proved(one.key, one.rule.outcome);
    options.progress(llvm::formatv("proving the basis: {0} of {1} rules",
                                   done.load(), statements.size()));
  });
  for (Statement &one : statements)
    if (one.rule.outcome.kind == Verdict::Kind::Proved)
      report.basis.push_back(std::move(one.rule));
  if (skipped)
    report.skipped.push_back(llvm::formatv(
        "{0} variants and ranks of the basis (out of time)", skipped.load()));
}

/// Each rule with solved weights is a family of its own.
void Generation::solveWeights() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HoleRuleOptions settings;
  settings.maxOps = std::min(options.maxOperators, 3u);
  settings.ops = options.ops;
  settings.shouldStop = [&] {
    return isOver(options.onlyHoles ? 1.0 : weightsShare);
  };
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
  if (report.holes.isCutOff)
    report.skipped.push_back("part of the rules with solved weights (out of "
                             "time)");
  watch.finish("solve weights", report.holes.proved);
}

} // namespace

unsigned GenerateReport::count(Verdict::Kind kind, bool onlyLinear) const {
  return llvm::count_if(families, [&](const FamilyReport &family) {
    return family.outcome && family.outcome->kind == kind &&
           (family.isLinear || !onlyLinear);
  });
}

GenerateReport generate(const GenerateOptions &options) {
  return Generation(options).run();
}

} // namespace mlc::generate
