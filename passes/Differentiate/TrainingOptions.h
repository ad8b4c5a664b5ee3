//===- TrainingOptions.h - Options of training ------------------*- C++ -*-===//
//
// The options of the phase Differentiate, for callers that compose a pipeline:
// addDifferentiatePasses (passes/Pipeline.h) takes them.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_TRAININGOPTIONS_H
#define MLC_PASSES_DIFFERENTIATE_TRAININGOPTIONS_H

#include "runtime/Training.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlc {

/// The number that training minimizes.
enum class LossKind {
  /// The output itself, a single number: the model computes its loss.
  Output,
  /// mean (y - t)^2 over all elements of the output y and the target t.
  MeanSquares,
  /// The mean of -log softmax(y)[label] over all labels that are not negative.
  /// The target is int64 and has the output's dims without the class axis.
  /// Without any such label the loss is 0 / 0.
  CrossEntropy,
};

/// The type of the factors of float32 matrix products and convolutions.
enum class FactorType { AsModel, F16, BF16 };

struct LossOptions {
  LossKind kind = LossKind::Output;
  /// The output's `mlc.name`; empty: the first output.
  std::string output;
  /// The axis of the classes; negative counts from the end.
  int64_t classAxis = 1;
  /// The name of the target's argument.
  std::string target = "target";
  /// The type of factors on the way to the output.
  FactorType factors = FactorType::AsModel;
  /// For CrossEntropy: the sum over labels is divided by an argument "count"
  /// after the target, of the loss's type.
  bool givenCount = false;
};

enum class OptimizerKind {
  SGD,      ///< w - rate g
  Momentum, ///< v = momentum v + g;  w - rate v
  Adam,     ///< weight decay is part of the gradient
  AdamW,    ///< weight decay shrinks the weight directly
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::SGD;
  double momentum = 0.9;
  /// Momentum: w - rate (g + momentum v).
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0;
  /// If positive, all gradients are scaled down by one factor until their joint
  /// norm is at most this.
  double clipNorm = 0;
  /// The loss's cotangent is an argument of the step, and gradients are divided
  /// by it. If one of them is not finite, nothing is changed.
  bool scalesLoss = false;
};

/// The states that an optimizer keeps for each weight, with the weight's dims
/// and 0 at the start: "momentum"; "first moment" and "second moment".
llvm::ArrayRef<llvm::StringLiteral> statesOf(OptimizerKind kind);

/// The scalars that an update reads and that change from step to step, float
/// tensors without dims: the learning rate and, for Adam and AdamW, 1 - beta1^t
/// and 1 - beta2^t in step t, counted from 1.
llvm::ArrayRef<runtime::InputRole> scalarsOf(OptimizerKind kind);

/// The entries that training has.
struct TrainingEntries {
  /// Batches per step; the step takes the mean of their gradients.
  int64_t accumulate = 1;
  /// Whether there is an entry that computes the loss alone.
  bool evaluates = false;
  /// Whether weights of 16 bits are kept beside their masters (HalfWeights.h).
  bool keepsHalf = false;
  /// Gradients are computed in one place and applied in another, so that
  /// "accumulate" and "apply" exist for one batch, too.
  bool isApart = false;
  /// There is no "apply" here; it runs elsewhere.
  bool computesAlone = false;
  /// For CrossEntropy, with `evaluates`: the entry also returns how many labels
  /// are right.
  bool countsRight = false;
  /// "apply" takes the number of gradients that it averages as an input: there
  /// are several updates in a step, of different numbers.
  bool countsGradients = false;

  /// Whether gradients are states.
  bool keepsGradients() const { return accumulate > 1 || isApart; }
  /// Whether several batches, or parts of one, contribute to one mean loss.
  /// Each is then told how many labels count in total.
  bool givesCount() const { return accumulate > 1 || computesAlone; }
};

/// When OptimizerOptions::scalesLoss is set.
enum class LossScaling {
  Never,
  Always,
  /// If a parameter or a factor is float16.
  WhereHalf,
};

struct DifferentiateOptions {
  LossOptions loss;
  /// How a step is made; nothing: only the loss and its gradients are computed.
  std::optional<OptimizerOptions> optimizer;
  LossScaling scaling = LossScaling::Never;
  TrainingEntries entries;
  /// Groups of samples of a batch for batch normalization in training form:
  /// each group has its own mean and variance. 0: one group, the batch. One
  /// group per rank matches PyTorch's DistributedDataParallel.
  int64_t statisticGroups = 0;
};

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_TRAININGOPTIONS_H
