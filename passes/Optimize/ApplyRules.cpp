//===- ApplyRules.cpp - Proved rewrites on a model ------------------------===//

#include "passes/Optimize/ApplyRules.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlc;

LogicalResult mlc::applyRules(ModuleOp module, const Target &target,
                              const TimingCache *timings,
                              const GreedyOptions &options) {
  RuleSet rules;
  if (failed(addShippedRules(rules, module.getContext())))
    return failure();
  CostModel cost(target.cost, timings);
  std::vector<Trail> trails;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      trails.push_back(applyGreedily(function, rules, cost, options));
  setTrails(module, trails);
  return success();
}

namespace {
struct ApplyRulesPass : PassWrapper<ApplyRulesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ApplyRulesPass)
  ApplyRulesPass() = default;
  ApplyRulesPass(std::optional<Target> given,
                 std::shared_ptr<const TimingCache> timings)
      : given(std::move(given)), timings(std::move(timings)) {}
  ApplyRulesPass(const ApplyRulesPass &other)
      : PassWrapper(other), given(other.given), timings(other.timings) {}
  StringRef getArgument() const override { return "mlc-apply-rules"; }
  StringRef getDescription() const override {
    return "apply the shipped, proved rewrites where they pay on a target";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<MlcDialect, rule::RuleDialect, func::FuncDialect>();
  }
  void runOnOperation() override {
    llvm::Expected<Target> parsed =
        given ? llvm::Expected<Target>(*given) : parseTarget(target);
    if (!parsed) {
      getOperation().emitError() << llvm::toString(parsed.takeError());
      return signalPassFailure();
    }
    if (failed(applyRules(getOperation(), *parsed, timings.get())))
      signalPassFailure();
  }
  std::optional<Target> given;
  std::shared_ptr<const TimingCache> timings;
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("target whose costs decide"),
                             llvm::cl::init("cpu")};
};
} // namespace

std::unique_ptr<Pass>
mlc::createApplyRulesPass(std::optional<Target> target,
                          std::shared_ptr<const TimingCache> timings) {
  return std::make_unique<ApplyRulesPass>(std::move(target),
                                          std::move(timings));
}

void mlc::registerApplyRulesPass() {
  registerPass([] { return createApplyRulesPass(); });
}
