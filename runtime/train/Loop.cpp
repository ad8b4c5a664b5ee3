//===- Loop.cpp - All steps of a training, on one rank --------------------===//

#include "runtime/train/Loop.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <unistd.h>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

static bool exists(const std::string &path) {
  return !path.empty() && access(path.c_str(), F_OK) == 0;
}

/// A number as in messages and in compared texts.
static std::string text(double number, int digits = 17) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, number);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::string train::checkpointSettings(const Training &training,
                                      const std::string &samples,
                                      uint64_t seed) {
  std::string text = "model " + training.model + "\ndata " + samples + "\n" +
                     training.loss + training.optimizer + "batch " +
                     std::to_string(training.batch) + "\nseed " +
                     std::to_string(seed) + "\n";
  if (training.accumulate > 1)
    text += "accumulated batches " + std::to_string(training.accumulate) + "\n";
  return text + training.distribution;
}

std::string Loop::settings() const {
  return checkpointSettings(trainer.training(), options.samples->hash(),
                            options.seed);
}

Status Loop::resumeFromCheckpoint() {
  if (!options.resume || !exists(options.checkpoint))
    return Status::success();
  Checkpoint state = trainer.outline();
  state.settings = settings();
  state.bestName = bestName();
  const Spelling spelling = trainer.getOptions().spelling;
  if (Status status = readCheckpoint(options.checkpoint, spelling, state);
      !status.ok())
    return status;
  if (state.step > options.steps)
    return Status::error(MLC_USAGE, options.checkpoint +
                                        ": was written after step " +
                                        std::to_string(state.step) + ", and " +
                                        option(spelling, "steps") + "=" +
                                        std::to_string(options.steps) +
                                        " ends before; give at least as many");
  isResumed = true;
  // If the best checkpoint is gone, ignore its value.
  if (exists(options.best))
    best = state.best;
  return trainer.restore(state);
}

/// An error unless all ranks have the same options and the same checkpoint.
Status Loop::agree() const {
  const LearningRate &rate = options.rate;
  Status status = all.agree(
      settings() + options.shared + (heldOut ? options.heldOut->hash() : "") +
          " " + text(rate.rate) + " " +
          std::to_string(static_cast<int>(rate.schedule)) + " " +
          std::to_string(rate.warmup) + " " +
          std::to_string(options.evaluateEvery) + bestName(),
      "another model, other samples, another plan or other options",
      "give all ranks the same");
  if (!status.ok())
    return status;
  return all.agree(std::to_string(stepsBefore) + " " +
                       std::to_string(options.steps),
                   "another checkpoint or other " +
                       option(trainer.getOptions().spelling, "steps"),
                   "give all ranks the same, on a disk that they share");
}

Status Loop::open() {
  const std::optional<uint32_t> labels = trainer.training().labels;
  source.emplace(*options.samples, trainer.samplePart(), options.seed, labels);
  if (options.heldOut)
    heldOut.emplace(*options.heldOut, trainer.samplePart(), /*seed=*/0, labels);
  if (Status status = resumeFromCheckpoint(); !status.ok())
    return status;
  stepsBefore = trainer.step();
  skippedBefore = trainer.scale().getSkipped();
  Status status = agree();
  if (status.ok() && observer)
    status = observer->onBegin(stepsBefore, isResumed);
  start = std::chrono::steady_clock::now();
  return status;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// One rank writes a checkpoint. Values that are not finite are not kept, since
/// training cannot resume from them.
Status Loop::keep(const std::string &path) {
  Checkpoint now;
  Status status = trainer.checkpoint(now);
  if (status.ok())
    status = trainer.checkFinite(now);
  if (!status.ok() || !observer || path.empty())
    return status;
  now.settings = settings();
  now.bestName = bestName();
  now.best = best;
  return writeCheckpoint(path, now);
}

/// The name of the best evaluation in checkpoints; empty if none is kept.
const char *Loop::bestName() const {
  if (options.best.empty())
    return "";
  return options.metric == Metric::Accuracy ? "best accuracy"
                                            : "best held-out loss";
}

/// Keeps a checkpoint if `value` is the best so far. One rank decides, since
/// joining shards takes all ranks.
Status Loop::keepBest(double value) {
  const bool isBetter =
      std::isfinite(value) &&
      (!best ||
       (options.metric == Metric::Accuracy ? value > *best : value < *best));
  std::vector<int64_t> said;
  if (Status status = trainer.group().gather({isBetter}, said); !status.ok())
    return status;
  if (!said.front())
    return Status::success();
  best = value;
  return keep(options.best);
}

Status Loop::evaluate() {
  Evaluation found;
  if (Status status = trainer.evaluate(*heldOut, heldOut->batches(), found);
      !status.ok())
    return status;
  EvaluationReport told{trainer.step(), found.loss, options.metric, 0};
  if (options.metric == Metric::Accuracy)
    told.value = found.accuracy.value_or(NAN);
  if (options.metric == Metric::Perplexity)
    told.value = std::exp(found.loss);
  if (observer)
    observer->onEvaluation(told);
  if (observer && !std::isfinite(found.loss))
    observer->onWarning(
        options.evaluation,
        "the loss of one of its batches is not a finite number: all its labels "
        "are negative, or a sample or the weights are too large");
  if (options.best.empty())
    return Status::success();
  return keepBest(options.metric == Metric::Accuracy ? told.value : told.loss);
}

double Loop::samplesPerSecond() const {
  const Training &training = trainer.training();
  return double(stepsTaken() * training.batch * training.accumulate) /
         std::max(seconds(), 1e-9);
}

StepReport Loop::report(double loss, bool isSkipped) const {
  StepReport report;
  report.step = trainer.step();
  report.loss = loss;
  report.rate = options.rate.at(report.step - 1);
  report.samplesPerSecond = samplesPerSecond();
  report.secondsLeft =
      seconds() / double(std::max<int64_t>(stepsTaken(), 1)) * stepsLeft();
  report.setScale(trainer.scale(), isSkipped);
  return report;
}

Status Loop::take(double loss, int64_t skipped) {
  const int64_t step = trainer.step();
  const bool isLast = stepsLeft() == 0;
  const bool isSkipped = trainer.scale().getSkipped() != skipped;
  if (isSkipped && observer && std::isfinite(loss))
    observer->onSkip(step, trainer.scale().getScale());
  Status status = trainer.check(loss, *source, exists(options.checkpoint));
  if (!status.ok())
    return status;
  if (observer)
    observer->onStep(report(loss, isSkipped));
  if (heldOut && (step % options.evaluateEvery == 0 || isLast))
    status = evaluate();
  if (status.ok() && observer)
    status = observer->onStepEnd();
  const bool isKept = step % options.checkpointEvery == 0 || isLast;
  if (status.ok() && ((isKept && !options.checkpoint.empty()) || isLast))
    status = keep(options.checkpoint);
  return status.ok() && isLast ? checkLearned() : status;
}

/// An error if all steps were skipped. Only a warning if a checkpoint keeps a
/// dynamic scale, since a resumed run goes on with the smaller one.
Status Loop::checkLearned() const {
  const LossScale &scale = trainer.scale();
  if (stepsTaken() == 0 || stepsSkipped() < stepsTaken())
    return Status::success();
  const bool isDynamic = scale.getKind() == LossScale::Kind::Dynamic;
  const Spelling spelling = trainer.getOptions().spelling;
  const std::string what =
      "nothing was learned: a gradient was not finite in any of " +
      std::to_string(stepsTaken()) + " steps, the last with a loss scale of " +
      text(scale.getScale(), 6) + "; give " +
      (isDynamic ? "more " + option(spelling, "steps") + ", which halve it"
                 : "a smaller " + option(spelling, "loss-scale"));
  const std::string &name = trainer.getOptions().name;
  if (!isDynamic || options.checkpoint.empty())
    return Status::error(MLC_DIFFERS, name + ": " + what);
  if (observer)
    observer->onWarning(name, what);
  return Status::success();
}

Status Loop::run() {
  while (stepsLeft() > 0) {
    int64_t skipped = trainer.scale().getSkipped();
    double loss = 0;
    Status status = trainer.run(*source, options.rate.at(trainer.step()), loss);
    if (status.ok())
      status = take(loss, skipped);
    if (!status.ok())
      return status;
  }
  return Status::success();
}
