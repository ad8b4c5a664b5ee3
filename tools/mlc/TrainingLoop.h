//===- TrainingLoop.h - All steps of a training, on one rank ----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGLOOP_H
#define MLC_TOOLS_MLC_TRAININGLOOP_H

#include "tools/mlc/Trainer.h"
#include <chrono>

namespace mlc::cli {

/// What the command line says of a training.
struct TrainingOptions {
  /// For messages.
  std::string model;
  std::string data, evaluation, checkpoint;
  /// Whole, of which a rank takes its part; held-out ones where there are some.
  std::shared_ptr<const TrainingData> samples, heldOut;
  /// What the target is called among the inputs, and TrainingFlags::describe.
  std::string target, loss;
  /// Distribution::describe.
  std::string distribution;
  /// What ranks must have been told alike beside what a checkpoint depends on.
  std::string shared;
  /// What an engine's own collectives send is not counted, and there are some.
  bool isPartlyCounted = false;
  int64_t accumulate = 1, steps = 0;
  int64_t printEvery = 1, checkpointEvery = 1, evaluateEvery = 1;
  uint64_t seed = 0;
  bool resume = false;

  /// Fills `samples` and `heldOut`, before anything takes long: errors are
  /// those of the files, labels that are no class, and batches of a size that
  /// nobody says.
  llvm::Error readSamples(const TrainingModel &read);
};

/// Takes a trainer through its steps, prints losses, keeps checkpoints. Of
/// several ranks each has one; all do the same, and one prints and writes: the
/// one that `tells`. `all` are those of the trainer or, where a server and
/// workers train together (ServedTraining.h), those and the others.
class TrainingLoop {
public:
  /// All outlive the loop.
  TrainingLoop(Trainer &trainer, const TrainingModel &read,
               const TrainingOptions &options, const TrainingRanks &all,
               bool tells)
      : trainer(trainer), read(read), options(options), all(all), tells(tells) {
  }

  /// Takes the samples, reads the checkpoint, to go on from there, and prints
  /// where that is. Errors: those of what it reads; ranks that read something
  /// else, or learn at another rate.
  llvm::Error open(const LearningRate &rate);
  /// The steps that are left.
  llvm::Error run(const LearningRate &rate);
  int64_t stepsLeft() const { return options.steps - trainer.step(); }
  /// The first half of a step (Trainer::computeGradients).
  llvm::Expected<double> computeGradients() {
    return trainer.computeGradients(*data, options.seed);
  }
  /// What follows a step of this loss, before which `skipped` steps had changed
  /// nothing: prints, keeps. Errors: a loss that is not finite, and others.
  llvm::Error take(double loss, int64_t skipped);
  /// Prints what it took to stderr; this rank has sent `sent` bytes in steps.
  llvm::Error printUse(uint64_t sent);

private:
  std::string settings() const;
  llvm::Error resumeFromCheckpoint();
  llvm::Error lostLoss();
  llvm::Error keep(bool writes);
  llvm::Error report(double loss, bool isLast);
  llvm::Error reportSkipped(int64_t before) const;
  llvm::Error checkLearned() const;
  std::string whyLost() const;

  Trainer &trainer;
  const TrainingModel &read;
  const TrainingOptions &options;
  const TrainingRanks &all;
  const bool tells;
  std::optional<TrainingData> data, heldOut;
  bool isResumed = false;
  int64_t stepsBefore = 0, skippedBefore = 0;
  std::chrono::steady_clock::time_point start;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGLOOP_H
