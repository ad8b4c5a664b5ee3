//===- LoopObserver.h - Reports of training's progress ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOOPOBSERVER_H
#define MLC_RUNTIME_TRAIN_LOOPOBSERVER_H

#include "runtime/Status.h"
#include "runtime/train/LossScale.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mlc::runtime::train {

/// The results of a step.
struct StepReport {
  int64_t step = 0; ///< from 1
  double loss = 0, rate = 0;
  /// Over all ranks, since training was opened.
  double samplesPerSecond = 0;
  double secondsLeft = 0;
  /// The loss scale from now on, if it changes.
  std::optional<double> lossScale;
  /// With a loss scale: whether the step was skipped.
  std::optional<bool> isSkipped;

  void setScale(const LossScale &scale, bool skips);
};

/// What is reported besides the held-out loss.
enum class Metric {
  None,
  /// The share of counted labels whose class has the largest output.
  Accuracy,
  /// exp(loss), for a cross-entropy loss.
  Perplexity,
};

struct EvaluationReport {
  int64_t step = 0;
  double loss = 0;
  Metric metric = Metric::None;
  double value = 0; ///< of the metric
};

/// Receives the progress of training, on the rank that reports.
class LoopObserver {
public:
  virtual ~LoopObserver() = default;
  /// The steps after `step` follow. `isResumed`: a checkpoint has those before.
  /// An error ends training.
  virtual Status onBegin(int64_t step, bool isResumed) {
    return Status::success();
  }
  /// The step was skipped, and `scale` is the loss scale from now on.
  virtual void onSkip(int64_t step, double scale) {}
  virtual void onStep(const StepReport &report) {}
  virtual void onEvaluation(const EvaluationReport &report) {}
  /// The step was fully reported; no checkpoint has it yet. An error ends
  /// training.
  virtual Status onStepEnd() { return Status::success(); }
  /// A warning about a file.
  virtual void onWarning(const std::string &file, const std::string &text) {}
};

/// Forwards to several others in order; they outlive it.
class LoopObservers : public LoopObserver {
public:
  void add(LoopObserver &observer) { observers.push_back(&observer); }

  Status onBegin(int64_t step, bool isResumed) override;
  void onSkip(int64_t step, double scale) override;
  void onStep(const StepReport &report) override;
  void onEvaluation(const EvaluationReport &report) override;
  Status onStepEnd() override;
  void onWarning(const std::string &file, const std::string &text) override;

private:
  std::vector<LoopObserver *> observers;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOOPOBSERVER_H
