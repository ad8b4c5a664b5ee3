//===- TrainingPass.cpp - Losses, gradients and steps, as passes ----------===//

#include "dialects/Module/CompileTime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Base/Form.h"
#include "passes/Base/Passes.h"
#include "passes/Differentiate/Entries.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;

namespace mlc {

#define GEN_PASS_DEF_GRADIENTSPASS
#define GEN_PASS_DEF_TRAININGSTEPPASS
#include "passes/Base/Passes.h.inc"

namespace {

/// Names of enumerators in options.
template <typename T> using Names = ArrayRef<std::pair<StringRef, T>>;

constexpr std::pair<StringRef, LossKind> losses[] = {
    {"output", LossKind::Output},
    {"mse", LossKind::MeanSquares},
    {"cross-entropy", LossKind::CrossEntropy}};
constexpr std::pair<StringRef, FactorType> factorTypes[] = {
    {"none", FactorType::AsModel},
    {"f16", FactorType::F16},
    {"bf16", FactorType::BF16}};
constexpr std::pair<StringRef, OptimizerKind> optimizers[] = {
    {"sgd", OptimizerKind::SGD},
    {"momentum", OptimizerKind::Momentum},
    {"adam", OptimizerKind::Adam},
    {"adamw", OptimizerKind::AdamW}};
constexpr std::pair<StringRef, LossScaling> scalings[] = {
    {"no", LossScaling::Never},
    {"yes", LossScaling::Always},
    {"half", LossScaling::WhereHalf}};

template <typename T> std::string nameOf(T value, Names<T> names) {
  for (auto [name, one] : names)
    if (one == value)
      return name.str();
  llvm_unreachable("an enumerator without a name");
}

template <typename T>
LogicalResult read(ModuleOp module, StringRef what, StringRef text,
                   Names<T> names, T &value) {
  std::string have;
  for (auto [name, one] : names) {
    if (name == text) {
      value = one;
      return success();
    }
    have += (have.empty() ? "" : ", ") + name.str();
  }
  return module.emitError()
         << "no " << what << " '" << text << "'; there are " << have;
}

/// Reads the options of a LossPass that are names.
LogicalResult readLoss(ModuleOp module, StringRef kind, StringRef factors,
                       LossOptions &loss) {
  return success(
      succeeded(read<LossKind>(module, "loss", kind, losses, loss.kind)) &&
      succeeded(read<FactorType>(module, "autocast", factors, factorTypes,
                                 loss.factors)));
}

template <typename T> void writeLoss(const LossOptions &loss, T &to) {
  to.loss = nameOf<LossKind>(loss.kind, losses);
  to.output = loss.output;
  to.target = loss.target;
  to.classAxis = loss.classAxis;
  to.autocast = nameOf<FactorType>(loss.factors, factorTypes);
}

struct GradientsPass : impl::GradientsPassBase<GradientsPass> {
  using GradientsPassBase::GradientsPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(change()))
      signalPassFailure();
  }

private:
  LogicalResult change() {
    FailureOr<func::FuncOp> main = findModel(getOperation());
    LossOptions options{LossKind::Output, output, classAxis, target};
    if (failed(main) ||
        failed(readLoss(getOperation(), loss, autocast, options)))
      return failure();
    return addLossAndGradients(*main, options);
  }
};

/// Whether a parameter is float16.
bool hasHalf(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments())
    if (main.getArgAttr(argument.getArgNumber(), kParameterAttr) &&
        getElementTypeOrSelf(argument.getType()).isF16())
      return true;
  return false;
}

struct TrainingStepPass : impl::TrainingStepPassBase<TrainingStepPass> {
  using TrainingStepPassBase::TrainingStepPassBase;

  void runOnOperation() override {
    if (failed(requireForm(*this, getOperation(), Form::Graph)) ||
        failed(change()))
      signalPassFailure();
  }

private:
  LogicalResult readOptimizer(func::FuncOp main, const LossOptions &loss,
                              OptimizerOptions &update) {
    LossScaling scaling;
    if (failed(read<OptimizerKind>(getOperation(), "optimizer",
                                   StringRef(optimizer), optimizers,
                                   update.kind)) ||
        failed(read<LossScaling>(getOperation(), "scale-loss",
                                 StringRef(scaleLoss), scalings, scaling)))
      return failure();
    update.momentum = momentum;
    update.nesterov = nesterov;
    update.beta1 = beta1;
    update.beta2 = beta2;
    update.epsilon = epsilon;
    update.weightDecay = weightDecay;
    update.clipNorm = clipNorm;
    update.scalesLoss = scaling == LossScaling::Always ||
                        (scaling == LossScaling::WhereHalf &&
                         (loss.factors == FactorType::F16 || hasHalf(main)));
    return success();
  }

  LogicalResult change() {
    FailureOr<func::FuncOp> main = findModel(getOperation());
    LossOptions lossOptions{LossKind::Output, output, classAxis, target};
    OptimizerOptions update;
    if (failed(main) ||
        failed(readLoss(getOperation(), loss, autocast, lossOptions)) ||
        failed(readOptimizer(*main, lossOptions, update)))
      return failure();
    if (!states)
      return addTrainingStep(*main, lossOptions, update);
    if (accumulate < 1)
      return getOperation().emitError("accumulates one batch at least");
    TrainingEntries entries{accumulate,    evaluates,   keepsHalf,      isApart,
                            computesAlone, countsRight, countsGradients};
    lossOptions.givenCount = entries.givesCount();
    return addTrainingEntries(*main, lossOptions, update, entries);
  }
};

} // namespace

std::unique_ptr<Pass> createGradientsPass(const LossOptions &loss) {
  GradientsPassOptions options;
  writeLoss(loss, options);
  return createGradientsPass(std::move(options));
}

std::unique_ptr<Pass>
createTrainingStepPass(const DifferentiateOptions &training) {
  const OptimizerOptions &update = *training.optimizer;
  const TrainingEntries &entries = training.entries;
  TrainingStepPassOptions options;
  writeLoss(training.loss, options);
  options.optimizer = nameOf<OptimizerKind>(update.kind, optimizers);
  options.momentum = update.momentum;
  options.nesterov = update.nesterov;
  options.beta1 = update.beta1;
  options.beta2 = update.beta2;
  options.epsilon = update.epsilon;
  options.weightDecay = update.weightDecay;
  options.clipNorm = update.clipNorm;
  options.scaleLoss = nameOf<LossScaling>(training.scaling, scalings);
  options.states = true;
  options.accumulate = entries.accumulate;
  options.evaluates = entries.evaluates;
  options.keepsHalf = entries.keepsHalf;
  options.isApart = entries.isApart;
  options.computesAlone = entries.computesAlone;
  options.countsRight = entries.countsRight;
  options.countsGradients = entries.countsGradients;
  return createTrainingStepPass(std::move(options));
}

} // namespace mlc
