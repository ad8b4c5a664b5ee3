//===- ApplyRules.cpp - Proved rewrites on a model ------------------------===//

#include "passes/Optimize/ApplyRules.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "rewrites/ProofLog/Replay.h"

using namespace mlir;
using namespace mlc;

CostModel mlc::makeCostModel(const CodeTarget &target,
                             const RewriteOptions &options) {
  AlgorithmCosts algorithms;
  if (target.backend && !options.forOthers)
    algorithms = target.backend->getAlgorithmCosts(target.target);
  // Times are of one target.
  const TimingCache *timings = options.timings.get();
  if (timings && timings->target != target.target.name)
    timings = nullptr;
  return CostModel(target.target.cost, timings, std::move(algorithms),
                   options.assumedSizes);
}

/// Fails unless the trail turns `before` into the search's result: engines are
/// not trusted (docs/Trust.md).
static LogicalResult replay(func::FuncOp before, func::FuncOp after,
                            const Trail &trail, RuleSet &rules) {
  auto find = [&](const TrailStep &step) -> llvm::Expected<Rule *> {
    for (Rule &rule : rules.rules)
      if (rule.getName() == step.rule && rule.hash == step.hash)
        return &rule;
    return llvm::createStringError("there is no such rule");
  };
  if (llvm::Error error = replayTrail(before, trail, find))
    return after.emitError("rewrites are not what their trail proves: ")
           << llvm::toString(std::move(error));
  if (!OperationEquivalence::isRegionEquivalentTo(
          &before.getBody(), &after.getBody(),
          OperationEquivalence::IgnoreLocations))
    return after.emitError("rewrites are not what their trail proves: it makes "
                           "another graph");
  return success();
}

LogicalResult mlc::applyRules(ModuleOp module, const CodeTarget &target,
                              const RewriteOptions &options) {
  RuleSet rules;
  if (failed(addRules(rules, module.getContext(), options.rules)))
    return failure();
  if (options.forOthers)
    rules.dropLowering();
  CostModel cost = makeCostModel(target, options);
  std::vector<Trail> trails;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (options.onSearchStart)
      options.onSearchStart();
    OwningOpRef<func::FuncOp> before = function.clone();
    FailureOr<SearchReport> report =
        search(function, rules, cost, options.search);
    if (failed(report))
      return failure();
    if (failed(replay(*before, function, report->trail, rules)))
      return failure();
    if (options.onSearch)
      options.onSearch(*report);
    trails.push_back(std::move(report->trail));
  }
  setTrails(module, trails);
  return success();
}

namespace mlc {
#define GEN_PASS_DEF_APPLYRULESPASS
#include "passes/Base/Passes.h.inc"
} // namespace mlc

namespace {
struct ApplyRulesPass : mlc::impl::ApplyRulesPassBase<ApplyRulesPass> {
  using ApplyRulesPassBase::ApplyRulesPassBase;
  ApplyRulesPass(const CodeTarget &target, const RewriteOptions &options)
      : given(target), options(options) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireForm(*this, module, Form::Graph)) ||
        failed(given ? applyRules(module, *given, options) : applyNamed()))
      signalPassFailure();
  }

private:
  /// Uses the pass's own options.
  LogicalResult applyNamed();

  std::optional<CodeTarget> given;
  RewriteOptions options;
};
} // namespace

LogicalResult ApplyRulesPass::applyNamed() {
  ModuleOp module = getOperation();
  RewriteOptions named;
  llvm::Expected<Target> target = parseTarget(targetName);
  if (!target)
    return module.emitError(llvm::toString(target.takeError()));
  std::optional<SearchEngine> wanted = parseSearchEngine(engine);
  if (!wanted)
    return module.emitError("there is no search engine ") << engine;
  named.search.engine = *wanted;
  for (const std::string &file : files) {
    llvm::Expected<GivenRules> rules = GivenRules::proveFile(file, named.rules);
    if (!rules)
      return module.emitError(llvm::toString(rules.takeError()));
    named.rules.push_back(std::move(*rules));
  }
  const Backend *backend = findBackend(*target);
  return applyRules(module, {std::move(*target), backend}, named);
}

std::unique_ptr<Pass> mlc::createApplyRulesPass(const CodeTarget &target,
                                                const RewriteOptions &options) {
  return std::make_unique<ApplyRulesPass>(target, options);
}
