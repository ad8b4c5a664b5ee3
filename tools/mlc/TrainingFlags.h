//===- TrainingFlags.h - The loss and the trained weights -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGFLAGS_H
#define MLC_TOOLS_MLC_TRAININGFLAGS_H

#include "passes/Differentiate/TrainingOptions.h"
#include "passes/Import/Weights.h"
#include "runtime/Training.h"
#include "tools/mlc/CompileToFlag.h"
#include "tools/mlc/Distribution.h"
#include "tools/mlc/Feed.h"

namespace mlc::cli {

class OptimizerFlags;

/// The options of the commands that need gradients.
class TrainingFlags {
public:
  explicit TrainingFlags(llvm::cl::SubCommand &sub);

  LossOptions lossOptions() const;
  const std::string &targetName() const { return target.getValue(); }
  /// Whether BatchNormalization and Dropout behave as in training.
  bool isInTraining() const { return inTraining; }
  /// Whether the loss is given, rather than the first output by default.
  bool namesLoss() const { return loss.getNumOccurrences() > 0; }
  /// Describes the loss, one line for each setting.
  std::string describe() const;

  /// The weights of the model in its order; frozen ones have the reason. Fails
  /// for an unknown name, for one that cannot be trained, and if nothing is
  /// left to train.
  llvm::Expected<std::vector<Weight>> choose(const onnx::ModelProto &model,
                                             llvm::StringRef file) const;

  CompileToFlag compileTo;

private:
  llvm::cl::opt<LossKind> loss;
  llvm::cl::opt<std::string> output, target;
  llvm::cl::opt<int64_t> classAxis;
  llvm::cl::opt<bool> inTraining;
  llvm::cl::opt<FactorType> factors;
  llvm::cl::list<std::string> train, freeze;
};

/// A model with its loss and gradients, before it is compiled.
struct TrainingModel {
  std::unique_ptr<Compilation> compilation;
  /// All weights; the kept() ones are the parameters, in that order.
  std::vector<Weight> weights;
  /// How it is trained; without an optimizer only the samples.
  runtime::Training training;
  /// How a step is made, if there is an optimizer.
  OptimizerOptions optimizer;
  /// With an optimizer, the values of kept() in the file, and the same in at
  /// least float32; the compiled model refers to them.
  std::vector<HostTensor> own, values;
  /// Which of these an exporter may have merged from several, one sentence
  /// each.
  std::vector<std::string> merged;

  std::vector<const Weight *> trained() const;
  /// What a step with an optimizer updates: the trained weights, then the
  /// running statistics.
  std::vector<const Weight *> kept() const;
};

/// The model with its loss and gradients or, with an optimizer, its training
/// entries, after the phase distribute or an earlier one that --compile-to
/// names. A positive `batch` sets the open first dims of the model's inputs.
/// With a plan it is the program of one of its ranks; `choose` may change a
/// copy of it when the model's graph is known.
llvm::Expected<TrainingModel> readTrainingModel(
    const ModelOptions &options, const TrainingFlags &flags,
    const OptimizerFlags *optimizer = nullptr, int64_t batch = 0,
    const TrainingEntries &entries = {}, const runtime::Plan *plan = nullptr,
    llvm::function_ref<void(mlir::ModuleOp, runtime::TrainingPlan &)> choose =
        nullptr);

/// Writes the result of --compile-to to `output`, or if that is empty to
/// standard output: the program of one of the ranks of --ranks, a worker if
/// there is a server; without a server, with `entries`. The plan determines how
/// many batches a step has.
llvm::Error writePhase(const ModelOptions &options, const TrainingFlags &flags,
                       const OptimizerFlags &optimizer, int64_t batch,
                       TrainingEntries entries,
                       const DistributionFlags &distribution,
                       llvm::StringRef output);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGFLAGS_H
