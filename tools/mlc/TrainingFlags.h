//===- TrainingFlags.h - What is trained, and for which loss ----*- C++ -*-===//

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
  /// Whether BatchNormalization and Dropout are taken as in training.
  bool isInTraining() const { return inTraining; }
  /// The loss, a line each for what decides it.
  std::string describe() const;

  /// The weights of the model in its order; those that stay as they are say
  /// why. Errors: a name that is none, one that cannot be trained, nothing left
  /// to train.
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
  /// All weights; those that are kept() are the parameters, in its order.
  std::vector<Weight> weights;
  /// How it is trained; without an optimizer what samples are.
  runtime::Training training;
  /// How a step is made, where there is an optimizer.
  OptimizerOptions optimizer;
  /// What kept() holds in the file, and the same at least in float32, where
  /// there is an optimizer; the compiled model refers to them.
  std::vector<HostTensor> own, values;
  /// Which of these an exporter may have made of several, a sentence each.
  std::vector<std::string> merged;

  std::vector<const Weight *> trained() const;
  /// What a step with an optimizer gives new values: those, then the running
  /// statistics.
  std::vector<const Weight *> kept() const;
};

/// The model with its loss and gradients or, with an optimizer, the entries of
/// its training, as the phase distribute leaves it, or an earlier one that
/// --compile-to names. Where `batch` is positive, it is the size of the first
/// dim of every input of the model's that is open. With a plan it is what
/// one of its ranks carries out.
llvm::Expected<TrainingModel>
readTrainingModel(const ModelOptions &options, const TrainingFlags &flags,
                  const OptimizerFlags *optimizer = nullptr, int64_t batch = 0,
                  const TrainingEntries &entries = {},
                  const runtime::Plan *plan = nullptr);

/// Of --compile-to, to standard output: what one of the ranks of --ranks, a
/// worker if there is a server, carries out, with `entries` where there is
/// none.
llvm::Error writePhase(const ModelOptions &options, const TrainingFlags &flags,
                       const OptimizerFlags &optimizer, int64_t batch,
                       TrainingEntries entries,
                       const DistributionFlags &distribution);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGFLAGS_H
