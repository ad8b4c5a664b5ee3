//===- ApplyRules.cpp - Proved rewrites on a model ------------------------===//

#include "passes/Optimize/ApplyRules.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/Form.h"

using namespace mlir;
using namespace mlc;

LogicalResult mlc::applyRules(ModuleOp module, const Target &target,
                              const RewriteOptions &options) {
  RuleSet rules;
  if (failed(addRules(rules, module.getContext(), options.rules)))
    return failure();
  CostParameters parameters = target.cost;
  if (options.forOthers) {
    rules.dropLowering();
    parameters.winogradEfficiency = 0;
  }
  CostModel cost(parameters, options.timings.get());
  std::vector<Trail> trails;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    FailureOr<SearchReport> report =
        search(function, rules, cost, options.search);
    if (failed(report))
      return failure();
    if (options.onSearch)
      options.onSearch(*report);
    trails.push_back(std::move(report->trail));
  }
  setTrails(module, trails);
  return success();
}

namespace {
struct ApplyRulesPass : PassWrapper<ApplyRulesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyRulesPass)
  ApplyRulesPass() = default;
  ApplyRulesPass(std::optional<Target> given, const RewriteOptions &options)
      : given(std::move(given)), options(options) {
    engine = name(options.search.engine).str();
  }
  ApplyRulesPass(const ApplyRulesPass &other)
      : PassWrapper(other), given(other.given), options(other.options) {}
  StringRef getArgument() const override { return "mlc-apply-rules"; }
  StringRef getDescription() const override {
    return "apply proved rewrites where they pay on a target";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<MlcDialect, rule::RuleDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)))
      return signalPassFailure();
    llvm::Expected<Target> parsed =
        given ? llvm::Expected<Target>(*given) : parseTarget(target);
    if (!parsed) {
      getOperation().emitError() << llvm::toString(parsed.takeError());
      return signalPassFailure();
    }
    std::optional<SearchEngine> wanted = parseSearchEngine(engine);
    if (!wanted) {
      getOperation().emitError() << "there is no search engine " << engine;
      return signalPassFailure();
    }
    options.search.engine = *wanted;
    for (const std::string &file : files) {
      llvm::Expected<GivenRules> given =
          GivenRules::proveFile(file, options.rules);
      if (!given) {
        getOperation().emitError() << llvm::toString(given.takeError());
        return signalPassFailure();
      }
      options.rules.push_back(std::move(*given));
    }
    if (failed(applyRules(getOperation(), *parsed, options)))
      signalPassFailure();
  }
  std::optional<Target> given;
  RewriteOptions options;
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("target whose costs decide"),
                             llvm::cl::init("cpu")};
  Option<std::string> engine{*this, "search",
                             llvm::cl::desc("egraph, greedy, backtracking"),
                             llvm::cl::init("egraph")};
  ListOption<std::string> files{
      *this, "rules",
      llvm::cl::desc("files of more rules, proved when they are read")};
};
} // namespace

std::unique_ptr<Pass> mlc::createApplyRulesPass(std::optional<Target> target,
                                                const RewriteOptions &options) {
  return std::make_unique<ApplyRulesPass>(std::move(target), options);
}

void mlc::registerApplyRulesPass() {
  registerPass([] { return createApplyRulesPass(); });
}
