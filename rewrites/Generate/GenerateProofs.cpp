//===- GenerateProofs.cpp - Proofs and the basis of families --------------===//

#include "rewrites/Generate/Emit.h"
#include "rewrites/Generate/Generation.h"
#include "rewrites/Generate/MultiOutput.h"
#include "rewrites/Support/Parallel.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>
#include <numeric>

namespace mlc::generate {

Catalog &Generation::catalogOf(const Pattern &pattern) {
  return **llvm::find_if(catalogs, [&](const auto &catalog) {
    return catalog.get() == &pattern.getCatalog();
  });
}

static bool isProved(const FamilyReport &family) {
  return family.outcome && family.outcome->kind == Verdict::Kind::Proved;
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// Assigns names in the order of families, before any proof.
void Generation::describe() {
  std::map<std::string, unsigned> taken;
  for (const Family &family : families.always)
    report.families.push_back(describe(family, taken));
  for (const Family &family : families.conditional)
    report.conditional.push_back(describe(family, taken));
}

FamilyReport Generation::describe(const Family &family,
                                  std::map<std::string, unsigned> &taken) {
  const Pattern &pattern = family.variants[0];
  FamilyReport one;
  one.text = family.text;
  one.isLinear = family.isLinear;
  one.agree = pattern.origin.agree;
  one.compared = pattern.origin.compared;
  one.name = ruleName(pattern);
  if (unsigned number = ++taken[one.name]; number > 1)
    one.name += "_" + std::to_string(number);
  const TermNode &root = pattern.getNodes()[pattern.getBefore()];
  one.file = pattern.variantOf(root).op + ".mlir";
  for (const Pattern &variant : family.variants)
    one.variants.push_back(variant.text(Detail::Variant));
  return one;
}

void Generation::prove() {
  // Small families first. Those without a repeated leaf are the most useful and
  // come before others that are up to two operators smaller.
  auto rank = [&](size_t i) {
    const Pattern &pattern = families.always[i].variants[0];
    return pattern.numOperators(pattern.getBefore()) +
           pattern.numOperators(pattern.getAfter()) +
           (families.always[i].isLinear ? 0 : 2);
  };
  std::vector<size_t> order(report.families.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::stable_sort(order,
                    [&](size_t a, size_t b) { return rank(a) < rank(b); });
  proveEach(report.families, families.always, order, {}, "families", "");
  watch.finish("prove", report.count(Verdict::Kind::Proved, false));
}

size_t Generation::limitProofs(size_t count, llvm::StringRef what) {
  if (options.maxProofs == 0 || count <= options.maxProofs)
    return count;
  skip(llvm::formatv("the proofs of {0} of {1} {2} (max-proofs)",
                     count - options.maxProofs, count, what));
  return options.maxProofs;
}

void Generation::proveEach(std::vector<FamilyReport> &reports,
                           llvm::ArrayRef<Family> families,
                           llvm::ArrayRef<size_t> order,
                           const ProveOptions &settings, llvm::StringRef what,
                           llvm::StringRef prefix) {
  std::mutex mutex;
  std::atomic<unsigned> done = 0, proved = 0;
  order = order.take_front(limitProofs(order.size(), what));
  forEach(order.size(), options.jobs, [&](size_t k, unsigned) {
    FamilyReport &family = reports[order[k]];
    std::string key = prefix.str() + family.text;
    auto known = options.known.find(key);
    family.outcome =
        known != options.known.end()
            ? known->second
            : proveFamily(families[order[k]], family.name, settings);
    ++done;
    proved += isProved(family);
    std::lock_guard<std::mutex> lock(mutex);
    if (known == options.known.end())
      options.proved(key, *family.outcome);
    options.progress(llvm::formatv("proving: {0} of {1} {2}, {3} proved",
                                   done.load(), order.size(), what,
                                   proved.load()));
  });
}

//===----------------------------------------------------------------------===//
// Derivation
//===----------------------------------------------------------------------===//

/// Small families come first, so that a family follows from smaller ones if
/// possible. Families of the basis with repeated leaves are replaced by the
/// wider families of which they are instances.
void Generation::findBasis() {
  takeBasis();
  watch.finish("basis", report.countBasis());
  widen();
  watch.finish("families with leaves apart",
               report.countWidened(Verdict::Kind::Proved));
  if (report.widened.empty())
    return;
  for (FamilyReport &family : report.families)
    family.isBasis = false;
  known = {};
  takeBasis();
  watch.finish("basis with those", report.countBasis());
}

/// An instance that differs only in leaves has the same size and comes after.
std::vector<Generation::Candidate> Generation::provedFamilies() {
  std::vector<std::pair<unsigned, Candidate>> sized;
  auto add = [&](std::vector<FamilyReport> &reports,
                 llvm::ArrayRef<Family> of) {
    for (auto [one, family] : llvm::zip(reports, of))
      if (isProved(one)) {
        const Pattern &pattern = family.variants[one.outcome->variant];
        sized.push_back({pattern.termSize(pattern.getBefore()) +
                             pattern.termSize(pattern.getAfter()),
                         {&one, &family}});
      }
  };
  add(report.widened, widened);
  add(report.families, families.always);
  llvm::stable_sort(sized, llvm::less_first());
  std::vector<Candidate> result;
  for (const auto &[size, candidate] : sized)
    result.push_back(candidate);
  return result;
}

void Generation::takeBasis() {
  std::vector<Candidate> proved = provedFamilies();
  for (auto [i, candidate] : llvm::enumerate(proved)) {
    auto [family, of] = candidate;
    const Pattern &pattern = of->variants[family->outcome->variant];
    family->isBasis = !follows(pattern, known, catalogOf(pattern));
    if (family->isBasis)
      for (const Pattern &variant : of->variants)
        known.add(variant);
    if (i % 16 == 0)
      options.progress(llvm::formatv("looking for a basis: {0} of {1} families",
                                     i, proved.size()));
  }
}

std::vector<Family> Generation::widerFamilies() {
  std::vector<const Pattern *> repeated;
  for (auto [family, one] : llvm::zip(families.always, report.families))
    if (one.isBasis && !one.isLinear)
      for (const Pattern &variant : family.variants)
        repeated.push_back(&variant);
  std::vector<std::optional<Pattern>> wider(repeated.size());
  forEach(repeated.size(), options.jobs,
          [&](size_t i, unsigned) { wider[i] = repeated[i]->widened(); });
  std::map<std::string, const Pattern *> byText;
  for (const std::optional<Pattern> &one : wider)
    if (one)
      byText.try_emplace(one->text(Detail::Variant), &*one);
  std::vector<const Pattern *> distinct;
  for (const auto &[text, pattern] : byText)
    distinct.push_back(pattern);
  return groupIntoFamilies(distinct);
}

/// A wider family may already be among the enumerated ones.
void Generation::widen() {
  std::set<std::string> found;
  std::map<std::string, unsigned> taken;
  for (const FamilyReport &family : report.families) {
    ++taken[family.name];
    if (isProved(family))
      found.insert(family.text);
  }
  widened = widerFamilies();
  llvm::erase_if(widened, [&](const Family &family) {
    return found.count(family.text) != 0;
  });
  for (const Family &family : widened)
    report.widened.push_back(describe(family, taken));
  std::vector<size_t> order(widened.size());
  std::iota(order.begin(), order.end(), size_t(0));
  proveEach(report.widened, widened, order, {}, "families with leaves apart",
            "apart: ");
}

/// A candidate follows only from candidates that hold at least where it does.
/// Whether or not a condition is found for those, this one needs none.
std::vector<size_t> Generation::selectConditional() {
  // For each number of agreeing instantiations, the rules that agree in at
  // least as many.
  std::map<unsigned, KnownRules> knownFor;
  for (const Family &family : families.conditional)
    knownFor.try_emplace(family.variants[0].origin.agree, known);
  std::vector<size_t> selected;
  for (auto [i, family] : llvm::enumerate(families.conditional)) {
    const Pattern &pattern = family.variants[0];
    FamilyReport &one = report.conditional[i];
    one.isDerived =
        follows(pattern, knownFor[pattern.origin.agree], catalogOf(pattern));
    report.prune.conditionalDerived += one.isDerived;
    if (one.isDerived)
      continue;
    selected.push_back(i);
    for (auto &[agree, rules] : knownFor)
      for (const Pattern &variant : family.variants)
        if (agree <= variant.origin.agree)
          rules.add(variant);
  }
  return selected;
}

void Generation::proveConditional() {
  std::vector<size_t> selected = selectConditional();
  watch.finish("conditional families", selected.size());
  ProveOptions settings;
  settings.needsCondition = true;
  proveEach(report.conditional, families.conditional, selected, settings,
            "conditional families", "if: ");
  unsigned proved = 0;
  for (FamilyReport &family : report.conditional) {
    family.isBasis = isProved(family);
    proved += family.isBasis;
  }
  watch.finish("prove conditional families", proved);
}

//===----------------------------------------------------------------------===//
// Variants and ranks of the basis
//===----------------------------------------------------------------------===//

std::vector<Generation::Variation> Generation::basisVariations() {
  std::vector<Variation> variations;
  auto add = [&](llvm::ArrayRef<FamilyReport> reports,
                 llvm::ArrayRef<Family> of, const ProveOptions &settings) {
    for (auto [family, one] : llvm::zip(of, reports))
      if (one.isBasis)
        for (const Pattern &variant : family.variants)
          variations.push_back({&variant, settings});
  };
  add(report.families, families.always, {});
  add(report.widened, widened, {});
  ProveOptions withCondition;
  withCondition.needsCondition = true;
  add(report.conditional, families.conditional, withCondition);
  return variations;
}

std::vector<Generation::Statement> Generation::basisStatements() {
  std::vector<Statement> statements;
  std::vector<Variation> variations = basisVariations();
  // The after side is part of a rule's name only if needed to distinguish
  // rules.
  std::map<std::string, unsigned> starting;
  for (const Variation &one : variations)
    ++starting[shortRuleName(*one.pattern)];
  std::set<std::string> taken;
  auto add = [&](const Variation &one, Shape shape) {
    std::string name = shortRuleName(*one.pattern);
    if (starting[name] > 1)
      name = ruleName(*one.pattern);
    if (shape.kind == Shape::Kind::TwoDims)
      name += "_2d";
    if (shape.kind == Shape::Kind::Rank)
      name += "_rank" + std::to_string(shape.rank);
    std::string unique = name;
    for (unsigned k = 2; !taken.insert(unique).second; ++k)
      unique = name + "_" + std::to_string(k);
    statements.push_back(
        {{unique, {}}, one.pattern, shape, one.options, "basis: " + unique});
  };
  for (const Variation &one : variations) {
    add(one, Shape{});
    for (Shape shape : otherShapes(*one.pattern))
      add(one, shape);
  }
  return statements;
}

void Generation::proveBasis() {
  std::vector<Statement> statements = basisStatements();
  statements.resize(
      limitProofs(statements.size(), "variants and ranks of the basis"));
  std::mutex mutex;
  std::atomic<unsigned> done = 0;
  forEach(statements.size(), options.jobs, [&](size_t s, unsigned) {
    Statement &one = statements[s];
    auto known = options.known.find(one.key);
    one.rule.outcome =
        known != options.known.end()
            ? known->second
            : provePattern(*one.pattern, one.rule.name, one.shape, one.options);
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
  watch.finish("variants and ranks of the basis", report.basis.size());
}

//===----------------------------------------------------------------------===//
// Several results
//===----------------------------------------------------------------------===//

/// From proved families of the basis and from their variants and ranks, without
/// duplicates.
std::vector<MultiOutputReport> Generation::nominateMultiOutput() {
  std::vector<MultiOutputReport> nominated;
  std::set<std::string> seen;
  auto nominate = [&](const std::string &name, const Outcome &outcome) {
    std::optional<MultiOutput> one =
        multiOutputOf(outcome.rule, name + "_in_parts");
    // Compare without the name, which comes first.
    if (!one || !seen.insert(one->rule.substr(one->rule.find('"'))).second)
      return;
    Outcome toProve;
    toProve.rule = std::move(one->rule);
    nominated.push_back({name + "_in_parts", one->text, std::move(toProve)});
  };
  for (const BasisRule &rule : report.basis)
    nominate(rule.name, rule.outcome);
  for (const auto *reports :
       {&report.families, &report.widened, &report.conditional})
    for (const FamilyReport &family : *reports)
      if (family.isBasis && isProved(family))
        nominate(family.name + "_as_found", *family.outcome);
  return nominated;
}

void Generation::proveMultiOutput() {
  report.multiOutput = nominateMultiOutput();
  std::mutex mutex;
  forEach(report.multiOutput.size(), options.jobs, [&](size_t i, unsigned) {
    MultiOutputReport &one = report.multiOutput[i];
    std::string key = "parts: " + one.name;
    auto known = options.known.find(key);
    if (known != options.known.end()) {
      one.outcome = known->second;
    } else {
      one.outcome = proveRule(one.outcome->rule, {});
      std::lock_guard<std::mutex> lock(mutex);
      options.proved(key, *one.outcome);
    }
  });
  watch.finish("rules with several results",
               report.countMultiOutput(Verdict::Kind::Proved));
}

} // namespace mlc::generate
