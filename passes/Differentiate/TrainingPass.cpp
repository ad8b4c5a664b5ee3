//===- TrainingPass.cpp - A step of training, as a pass -------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Entries.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mlc {

#define GEN_PASS_DEF_TRAININGSTEPPASS
#include "passes/Base/Passes.h.inc"

namespace {

struct TrainingStepPass : impl::TrainingStepPassBase<TrainingStepPass> {
  using TrainingStepPassBase::TrainingStepPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(change()))
      signalPassFailure();
  }

private:
  LogicalResult change() {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || !main.getBody().hasOneBlock())
      return module.emitError()
             << "has no function @main of one block to train";
    auto lossKind = llvm::StringSwitch<std::optional<LossKind>>(loss)
                        .Case("output", LossKind::Output)
                        .Case("mse", LossKind::MeanSquares)
                        .Case("cross-entropy", LossKind::CrossEntropy)
                        .Default(std::nullopt);
    if (!lossKind)
      return module.emitError() << "no loss '" << loss
                                << "'; there are output, mse, cross-entropy";
    auto optimizerKind =
        llvm::StringSwitch<std::optional<OptimizerKind>>(optimizer)
            .Case("sgd", OptimizerKind::SGD)
            .Case("momentum", OptimizerKind::Momentum)
            .Case("adam", OptimizerKind::Adam)
            .Case("adamw", OptimizerKind::AdamW)
            .Default(std::nullopt);
    if (!optimizerKind)
      return module.emitError() << "no optimizer '" << optimizer
                                << "'; there are sgd, momentum, adam, adamw";
    LossOptions lossOptions;
    lossOptions.kind = *lossKind;
    lossOptions.classAxis = classAxis;
    OptimizerOptions update;
    update.kind = *optimizerKind;
    update.clipNorm = clipNorm;
    update.scalesLoss = scalesLoss;
    if (halfFactors)
      lossOptions.factors = FactorType::F16;
    return states ? addTrainingEntries(main, lossOptions, update, {})
                  : addTrainingStep(main, lossOptions, update);
  }
};

} // namespace

} // namespace mlc
