//===- LoopObserver.h - What is told of a training --------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOOPOBSERVER_H
#define MLC_RUNTIME_TRAIN_LOOPOBSERVER_H

#include "runtime/Status.h"
#include "runtime/train/LossScale.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mlc::runtime::train {

/// What a step has come to.
struct StepReport {
  int64_t step = 0; ///< from 1
  double loss = 0, rate = 0;
  /// Since training was opened, by all ranks together.
  double samplesPerSecond = 0;
  double secondsLeft = 0;
  /// What gradients are scaled by from now on, where that changes.
  std::optional<double> lossScale;
  /// Where the loss is scaled: whether the step changed nothing.
  std::optional<bool> isSkipped;

  void setScale(const LossScale &scale, bool skips);
};

/// What is told beside the held-out loss.
enum class Metric {
  None,
  /// The share of the labels that count whose class has the largest output.
  Accuracy,
  /// e to the power of the loss, of a cross-entropy loss.
  Perplexity,
};

struct EvaluationReport {
  int64_t step = 0;
  double loss = 0;
  Metric metric = Metric::None;
  double value = 0; ///< of the metric
};

/// What is told of a training as it goes on, on the rank that tells.
class LoopObserver {
public:
  virtual ~LoopObserver() = default;
  /// Steps behind `step` are to come; `isResumed`: those before are in a
  /// checkpoint. An error ends training.
  virtual Status onBegin(int64_t step, bool isResumed) {
    return Status::success();
  }
  /// The step changed nothing, and gradients are scaled by `scale` from now on.
  virtual void onSkip(int64_t step, double scale) {}
  virtual void onStep(const StepReport &report) {}
  virtual void onEvaluation(const EvaluationReport &report) {}
  /// All of the step is told, and no checkpoint has it yet. An error ends
  /// training.
  virtual Status onStepEnd() { return Status::success(); }
  /// Of a file.
  virtual void onWarning(const std::string &file, const std::string &text) {}
};

/// Tells several others, which outlive it, one after the other.
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
