//===- TrainingFlags.h - What is trained, and for which loss ----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGFLAGS_H
#define MLC_TOOLS_MLC_TRAININGFLAGS_H

#include "passes/Differentiate/Entries.h"
#include "passes/Import/Weights.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Feed.h"

namespace mlc::cli {

/// The options of the commands that need gradients.
class TrainingFlags {
public:
  explicit TrainingFlags(llvm::cl::SubCommand &sub);

  LossOptions lossOptions() const;
  const std::string &targetName() const { return target.getValue(); }
  /// The loss, a line each for what decides it.
  std::string describe() const;

  /// The weights of the model in its order; those that stay as they are say
  /// why. Errors: a name that is none, one that cannot be trained, nothing left
  /// to train.
  llvm::Expected<std::vector<Weight>> choose(const onnx::ModelProto &model,
                                             llvm::StringRef file) const;

private:
  llvm::cl::opt<LossKind> loss;
  llvm::cl::opt<std::string> output, target;
  llvm::cl::opt<int64_t> classAxis;
  llvm::cl::list<std::string> train, freeze;
};

/// A model with its loss and gradients, before it is compiled.
struct TrainingModel {
  std::unique_ptr<Compilation> compilation;
  /// All weights; those that are trained are the parameters, in this order.
  std::vector<Weight> weights;
  /// How many classes labels name; nothing where the loss has none, or where
  /// the number is open.
  std::optional<int64_t> classes;

  /// What the trained weights hold in the file, where there is an optimizer.
  std::vector<HostTensor> values;
  /// BLAKE3 of the file.
  std::string hash;

  std::vector<const Weight *> trained() const;
};

/// The model as addLossAndGradients makes it or, with an optimizer, as
/// addTrainingEntries does. Where `batch` is positive, it is the size of the
/// first dim of every input of the model's that is open.
llvm::Expected<TrainingModel>
readTrainingModel(const ModelOptions &options, const TrainingFlags &flags,
                  const std::optional<OptimizerOptions> &optimizer = {},
                  int64_t batch = 0, const TrainingEntries &entries = {});

/// Errors unless every label is less than `classes`; `name` is the array's.
llvm::Error checkLabels(const HostTensor &labels, int64_t classes,
                        llvm::StringRef name);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGFLAGS_H
