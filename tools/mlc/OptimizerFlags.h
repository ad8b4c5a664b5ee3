//===- OptimizerFlags.h - How a model is trained ----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_OPTIMIZERFLAGS_H
#define MLC_TOOLS_MLC_OPTIMIZERFLAGS_H

#include "passes/Differentiate/TrainingOptions.h"
#include "runtime/Training.h"
#include "runtime/train/LearningRate.h"
#include "runtime/train/LossScale.h"
#include "llvm/Support/CommandLine.h"

namespace mlc::cli {

using runtime::train::LearningRate;
using runtime::train::LossScale;
using runtime::train::RateSchedule;

/// The options of the optimizer and of its learning rate.
class OptimizerFlags {
public:
  explicit OptimizerFlags(llvm::cl::SubCommand &sub);

  /// Fails for a number out of range and an option that the optimizer lacks.
  llvm::Expected<OptimizerOptions> optimizer() const;
  llvm::Expected<LearningRate> learningRate(int64_t steps) const;
  /// `isHalf`: some computation is in float16. The loss is then scaled unless
  /// the option says otherwise.
  llvm::Expected<LossScale> lossScale(bool isHalf) const;
  /// Whether to use a loss scale.
  llvm::Expected<LossScaling> scaling() const;

private:
  bool isAdam() const {
    return kind == mlc::OptimizerKind::Adam ||
           kind == mlc::OptimizerKind::AdamW;
  }
  llvm::Error refuseOthers() const;

  llvm::cl::opt<OptimizerKind> kind;
  llvm::cl::opt<double> rate, momentum, beta1, beta2, epsilon, decay, clip;
  llvm::cl::opt<bool> nesterov;
  llvm::cl::opt<RateSchedule> schedule;
  llvm::cl::opt<int64_t> warmup;
  llvm::cl::opt<std::string> scale;
};

/// Records in `training` what determines an update besides the learning rate.
void describeOptimizer(const OptimizerOptions &options, const LossScale &scale,
                       runtime::Training &training);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_OPTIMIZERFLAGS_H
