//===- Loop.h - All steps of a training, on one rank ------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOOP_H
#define MLC_RUNTIME_TRAIN_LOOP_H

#include "runtime/train/LearningRate.h"
#include "runtime/train/LoopObserver.h"
#include "runtime/train/Trainer.h"

#include <chrono>

namespace mlc::runtime::train {

struct LoopOptions {
  /// The .npz files, for messages; those of `samples` and `heldOut`.
  std::string data, evaluation;
  /// Of which a rank takes its part; held-out ones where there are some.
  std::shared_ptr<const Samples> samples, heldOut;
  /// Empty: none is kept.
  std::string checkpoint;
  bool resume = false;
  LearningRate rate;
  int64_t steps = 0;
  int64_t checkpointEvery = 1, evaluateEvery = 1;
  /// Beside the held-out loss. An accuracy needs an artifact that counts right
  /// labels.
  Metric metric = Metric::None;
  /// A checkpoint of the best evaluation: of the largest accuracy where that is
  /// the metric, else of the smallest loss. Empty: none is kept.
  std::string best;
  uint64_t seed = 0;
  /// What ranks must have been told alike beside what a checkpoint depends on.
  std::string shared;
};

/// Takes a trainer through its steps, tells of them, keeps checkpoints. Of
/// several ranks each has one; all do the same, and one tells and writes.
class Loop {
public:
  /// All outlive the loop. `all` are the trainer's ranks or, where a server and
  /// workers train together (ServedTraining.h), those and the others;
  /// `observer` is null on ranks that do not tell.
  Loop(Trainer &trainer, const LoopOptions &options, const Group &all,
       LoopObserver *observer)
      : trainer(trainer), options(options), all(all), observer(observer) {}

  /// Reads the checkpoint, to go on from there. Errors: those of what it reads;
  /// ranks that read something else, or learn at another rate.
  Status open();
  /// The steps that are left.
  Status run();
  int64_t stepsLeft() const { return options.steps - trainer.step(); }
  /// The first half of a step (Trainer::computeGradients).
  Status computeGradients(double &loss) {
    return trainer.computeGradients(*source, loss);
  }
  double rateAt(int64_t step) const { return options.rate.at(step); }
  /// What follows a step of this loss, before which `skipped` steps had changed
  /// nothing: tells, keeps. Errors: a loss that is not finite, and others.
  Status take(double loss, int64_t skipped);

  /// Since it was opened.
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
  /// Of the evaluations so far.
  std::optional<double> best;
  std::chrono::steady_clock::time_point start;
};

/// What a checkpoint of `training` depends on, with samples of this hash in the
/// order of a seed.
std::string checkpointSettings(const Training &training,
                               const std::string &samples, uint64_t seed);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOOP_H
