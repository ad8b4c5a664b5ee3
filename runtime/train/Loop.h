//===- Loop.h - All steps of a training, on one rank ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOOP_H
#define MLC_RUNTIME_TRAIN_LOOP_H

#include "runtime/train/LearningRate.h"
#include "runtime/train/LoopObserver.h"
#include "runtime/train/Trainer.h"

#include <chrono>

namespace mlc::runtime::train {

struct LoopOptions {
  /// The .npz files of `samples` and `heldOut`, for messages.
  std::string data, evaluation;
  /// All samples, of which a rank takes its shard; `heldOut` may be null.
  std::shared_ptr<const Samples> samples, heldOut;
  /// The file of the checkpoint; empty: none is kept.
  std::string checkpoint;
  bool resume = false;
  LearningRate rate;
  int64_t steps = 0;
  int64_t checkpointEvery = 1, evaluateEvery = 1;
  /// Reported besides the held-out loss. An accuracy needs an artifact that
  /// counts correct labels.
  Metric metric = Metric::None;
  /// The file of the best evaluation's checkpoint: that with the largest
  /// accuracy if that is the metric, else with the smallest loss. Empty: none
  /// is kept.
  std::string best;
  uint64_t seed = 0;
  /// Options that must be the same on all ranks besides those that a checkpoint
  /// depends on.
  std::string shared;
};

/// Takes a trainer through its steps, reports them and keeps checkpoints. Each
/// rank has one; all do the same, and one of them reports and writes.
class Loop {
public:
  /// All arguments outlive the loop. `all` are the trainer's ranks, or the
  /// server and all workers if there is a parameter server (ServedTraining.h).
  /// `observer` is null on ranks that do not report.
  Loop(Trainer &trainer, const LoopOptions &options, const Group &all,
       LoopObserver *observer)
      : trainer(trainer), options(options), all(all), observer(observer) {}

  /// Reads the checkpoint to resume from. Fails if reading fails, or if ranks
  /// differ in what they read or in their learning rate.
  Status open();
  /// Runs the remaining steps.
  Status run();
  int64_t stepsLeft() const { return options.steps - trainer.step(); }
  /// The first half of a step (Trainer::computeGradients).
  Status computeGradients(double &loss) {
    return trainer.computeGradients(*source, loss);
  }
  double rateAt(int64_t step) const { return options.rate.at(step); }
  /// Follows a step with this loss: reports it and keeps checkpoints. `skipped`
  /// is the count of skipped steps before it. Fails for a loss that is not
  /// finite, and for other errors.
  Status take(double loss, int64_t skipped);

  /// Steps since it was opened.
  int64_t stepsTaken() const { return trainer.step() - stepsBefore; }
  int64_t stepsSkipped() const {
    return trainer.scale().getSkipped() - skippedBefore;
  }
  double samplesPerSecond() const;
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

private:
  std::string settings() const;
  std::string where(const std::string &text) const;
  const char *bestName() const;
  Status resumeFromCheckpoint();
  Status agree() const;
  StepReport report(double loss, bool isSkipped) const;
  Status keep(const std::string &path);
  Status keepBest(double value);
  Status evaluate();
  Status checkLearned() const;

  Trainer &trainer;
  const LoopOptions &options;
  const Group &all;
  LoopObserver *const observer;
  std::optional<SampleOrder> source, heldOut;
  bool isResumed = false;
  int64_t stepsBefore = 0, skippedBefore = 0;
  /// The best evaluation so far.
  std::optional<double> best;
  std::chrono::steady_clock::time_point start;
};

/// What a checkpoint of `training` depends on, with samples of this hash in the
/// order of this seed.
std::string checkpointSettings(const Training &training,
                               const std::string &samples, uint64_t seed);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOOP_H
