//===- TrainingLoop.h - All steps of a training, on one rank ----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGLOOP_H
#define MLC_TOOLS_MLC_TRAININGLOOP_H

#include "tools/mlc/Trainer.h"

namespace mlc::cli {

/// What the command line says of a training.
struct TrainingOptions {
  /// For messages.
  std::string model;
  std::string data, evaluation, checkpoint;
  /// What the target is called among the inputs, and TrainingFlags::describe.
  std::string target, loss;
  /// Distribution::describe.
  std::string distribution;
  int64_t accumulate = 1, steps = 0;
  int64_t printEvery = 1, checkpointEvery = 1, evaluateEvery = 1;
  uint64_t seed = 0;
  bool resume = false;
};

/// Takes a trainer through its steps, prints losses, keeps checkpoints. Of
/// several ranks each has one; all do the same, and the first prints and
/// writes.
class TrainingLoop {
public:
  /// All outlive the loop.
  TrainingLoop(Trainer &trainer, const TrainingModel &read,
               const TrainingOptions &options)
      : trainer(trainer), read(read), options(options) {}

  /// Reads the samples and, to go on from there, the checkpoint, and prints
  /// where that is. Errors: labels that are no class, and those of what it
  /// reads; ranks that read something else, or learn at
  /// another rate.
  llvm::Error open(const LearningRate &rate);
  /// The steps that are left.
  llvm::Error run(const LearningRate &rate);
  /// Prints what it took to stderr.
  llvm::Error printUse();

private:
  std::string settings() const;
  llvm::Error resumeFromCheckpoint();
  llvm::Error checkTargets(const TrainingData &samples) const;
  llvm::Error lostLoss() const;
  llvm::Error keep(bool writes);
  llvm::Error report(double loss, bool isLast);
  llvm::Error reportSkipped(int64_t before) const;

  Trainer &trainer;
  const TrainingModel &read;
  const TrainingOptions &options;
  std::optional<TrainingData> data, heldOut;
  bool isResumed = false;
  int64_t stepsBefore = 0;
  double seconds = 0;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGLOOP_H
