//===- ApplyRules.cpp - Proved rewrites on a model ------------------------===//

#include "passes/Optimize/ApplyRules.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlc;

LogicalResult mlc::applyRules(ModuleOp module, const Target &target,
                              const GreedyOptions &options) {
  RuleSet rules;
  if (failed(addShippedRules(rules, module.getContext())))
    return failure();
  CostModel cost(target.cost);
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
  explicit ApplyRulesPass(std::optional<Target> given)
      : given(std::move(given)) {}
  ApplyRulesPass(const ApplyRulesPass &other)
      : PassWrapper(other), given(other.given) {}
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
    if (failed(applyRules(getOperation(), *parsed)))
      signalPassFailure();
  }
  std::optional<Target> given;
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("target whose costs decide"),
                             llvm::cl::init("cpu")};
};
} // namespace

std::unique_ptr<Pass> mlc::createApplyRulesPass(std::optional<Target> target) {
  return std::make_unique<ApplyRulesPass>(std::move(target));
}

void mlc::registerApplyRulesPass() {
  registerPass([] { return createApplyRulesPass(); });
}
