//===- Loop.cpp - All steps of a training, on one rank --------------------===//

#include "runtime/train/Loop.h"
#include "runtime/Text.h"

#include <cinttypes>
#include <cmath>
#include <unistd.h>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

static bool exists(const std::string &path) {
  return !path.empty() && access(path.c_str(), F_OK) == 0;
}

/// As messages and texts that are compared have a number.
static std::string text(double number, int digits = 17) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.*g", digits, number);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Where it begins
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
  return trainer.restore(state);
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
  const LearningRate &rate = options.rate;
  Status status = all.agree(
      settings() + options.shared + (heldOut ? options.heldOut->hash() : "") +
          " " + text(rate.rate) + " " +
          std::to_string(static_cast<int>(rate.schedule)) + " " +
          std::to_string(rate.warmup) + " " +
          std::to_string(options.evaluateEvery),
      "another model, other samples or other options",
      "give all ranks the same");
  if (status.ok())
    status = all.agree(std::to_string(stepsBefore) + " " +
                           std::to_string(options.steps),
                       "another checkpoint or other " +
                           option(trainer.getOptions().spelling, "steps"),
                       "give all ranks the same, on a disk that they share");
  if (status.ok() && isResumed && observer)
    observer->onResume(stepsBefore);
  start = std::chrono::steady_clock::now();
  return status;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Where training stands, which one rank writes. What is not finite is not
/// kept: nothing goes on from there.
Status Loop::keep() {
  Checkpoint now;
  Status status = trainer.checkpoint(now);
  if (status.ok())
    status = trainer.checkFinite(now);
  if (!status.ok() || !observer || options.checkpoint.empty())
    return status;
  now.settings = settings();
  return writeCheckpoint(options.checkpoint, now);
}

Status Loop::evaluate() {
  double loss = 0;
  if (Status status = trainer.evaluate(*heldOut, heldOut->batches(), loss);
      !status.ok())
    return status;
  if (!observer)
    return Status::success();
  observer->onEvaluation(trainer.step(), loss);
  if (!std::isfinite(loss))
    observer->onWarning(
        options.evaluation,
        "the loss of one of its batches is not a finite number: all its labels "
        "are negative, or a sample or the weights are too large");
  return Status::success();
}

Status Loop::take(double loss, int64_t skipped) {
  const int64_t step = trainer.step();
  const bool isLast = stepsLeft() == 0;
  const bool isSkipped = trainer.scale().getSkipped() != skipped;
  if (isSkipped && observer && std::isfinite(loss))
    observer->onSkip(step, trainer.scale().getScale());
  if (Status status = trainer.check(loss, *source, exists(options.checkpoint));
      !status.ok())
    return status;
  if (observer)
    observer->onStep(step, loss, options.rate.at(step - 1));
  if (heldOut && (step % options.evaluateEvery == 0 || isLast))
    if (Status status = evaluate(); !status.ok())
      return status;
  const bool isKept = step % options.checkpointEvery == 0 || isLast;
  if ((isKept && !options.checkpoint.empty()) || isLast)
    if (Status status = keep(); !status.ok())
      return status;
  return isLast ? checkLearned() : Status::success();
}

/// An error for a run that has changed nothing. Where a checkpoint keeps a
/// scale that goes down, it is the begin of one that does.
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
