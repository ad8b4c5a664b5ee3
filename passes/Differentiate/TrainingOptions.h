//===- TrainingOptions.h - What is made of a model that is trained *- C++ -*-=//
//
// The options of the phase Differentiate, for whoever composes a pipeline:
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

/// The number that training makes small.
enum class LossKind {
  /// The output itself, a single number: the model computes its loss.
  Output,
  /// mean (y - t)^2 over all elements of the output y and the target t.
  MeanSquares,
  /// The mean of -log softmax(y)[label] over all labels that are not negative.
  /// The target is of int64 and has the output's dims without the class axis.
  /// Without any such label it is 0 / 0.
  CrossEntropy,
};

/// What matrix products and convolutions of float32 tensors are of.
enum class FactorType { AsModel, F16, BF16 };

struct LossOptions {
  LossKind kind = LossKind::Output;
  /// By its `mlc.name`; empty: the first.
  std::string output;
  /// The axis of the classes, from the end where negative.
  int64_t classAxis = 1;
  /// What the target's argument is called.
  std::string target = "target";
  /// What is multiplied on the way to it.
  FactorType factors = FactorType::AsModel;
  /// Of CrossEntropy: what the sum over labels is divided by is told by an
  /// argument "count" behind the target, of the loss's type.
  bool givenCount = false;
};

enum class OptimizerKind {
  SGD,      ///< w - rate g
  Momentum, ///< v = momentum v + g;  w - rate v
  Adam,     ///< weight decay is part of the gradient
  AdamW,    ///< weight decay shrinks the weight by itself
};

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::SGD;
  double momentum = 0.9;
  /// Momentum: w - rate (g + momentum v).
  bool nesterov = false;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weightDecay = 0;
  /// Where positive: all gradients are made smaller, by one factor, until the
  /// norm of all of them together is at most this.
  double clipNorm = 0;
  /// The loss's cotangent is a number that a step is told, and gradients are
  /// divided by it. Where one of them is not finite, all stays as it was.
  bool scalesLoss = false;
};

/// What an optimizer keeps of each weight beside it, of the weight's dims and 0
/// in the beginning: "momentum"; "first moment" and "second moment".
llvm::ArrayRef<llvm::StringLiteral> statesOf(OptimizerKind kind);

/// Numbers, tensors of floats without dims, that an update reads and that
/// change from step to step: the learning rate and, for Adam and AdamW,
/// 1 - beta1^t and 1 - beta2^t in step t, the first being 1.
llvm::ArrayRef<runtime::InputRole> scalarsOf(OptimizerKind kind);

/// What entries training has.
struct TrainingEntries {
  /// Batches of which a step takes the mean of the gradients.
  int64_t accumulate = 1;
  /// Whether there is an entry that computes the loss alone.
  bool evaluates = false;
  /// Whether weights of 16 bits are kept beside their masters (KeptHalf.h).
  bool keepsHalf = false;
  /// Gradients are computed in one place and applied in another: there are
  /// "accumulate" and "apply" for one batch, too.
  bool isApart = false;
  /// Without "apply": it is elsewhere.
  bool computesAlone = false;
  /// Of CrossEntropy, where it evaluates: the entry gives how many labels are
  /// right, too.
  bool countsRight = false;

  /// Whether gradients are states of their own.
  bool keepsGradients() const { return accumulate > 1 || isApart; }
  /// Whether the losses of several batches, or parts of one, are terms of one
  /// mean, so that each is told how many labels count in all.
  bool givesCount() const { return accumulate > 1 || computesAlone; }
};

/// When OptimizerOptions::scalesLoss is meant.
enum class LossScaling {
  Never,
  Always,
  /// Where a parameter is of float16, or what is multiplied.
  WhereHalf,
};

struct DifferentiateOptions {
  LossOptions loss;
  /// How a step is made; nothing: there is none, but the loss and its
  /// gradients.
  std::optional<OptimizerOptions> optimizer;
  LossScaling scaling = LossScaling::Never;
  TrainingEntries entries;
  /// Groups of the samples of a batch, each of which batch normalization in
  /// training form takes mean and variance of for its own; 0: it takes those of
  /// the batch. With a group for each rank that is what PyTorch's
  /// DistributedDataParallel computes.
  int64_t statisticGroups = 0;
};

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_TRAININGOPTIONS_H
