//===- LoopObserver.cpp - Reports of training's progress ------------------===//

#include "runtime/train/LoopObserver.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;

void StepReport::setScale(const LossScale &scale, bool skips) {
  if (scale.getKind() == LossScale::Kind::Dynamic)
    lossScale = scale.getScale();
  if (scale.isOn())
    isSkipped = skips;
}

Status LoopObservers::onBegin(int64_t step, bool isResumed) {
  Status status;
  for (LoopObserver *one : observers)
    if (status.ok())
      status = one->onBegin(step, isResumed);
  return status;
}

void LoopObservers::onSkip(int64_t step, double scale) {
  for (LoopObserver *one : observers)
    one->onSkip(step, scale);
}

void LoopObservers::onStep(const StepReport &report) {
  for (LoopObserver *one : observers)
    one->onStep(report);
}

void LoopObservers::onEvaluation(const EvaluationReport &report) {
  for (LoopObserver *one : observers)
    one->onEvaluation(report);
}

Status LoopObservers::onStepEnd() {
  Status status;
  for (LoopObserver *one : observers)
    if (status.ok())
      status = one->onStepEnd();
  return status;
}

void LoopObservers::onWarning(const std::string &file,
                              const std::string &text) {
  for (LoopObserver *one : observers)
    one->onWarning(file, text);
}
