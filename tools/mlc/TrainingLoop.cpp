//===- TrainingLoop.cpp - All steps of a training, on one rank ------------===//

#include "tools/mlc/TrainingLoop.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OptimizerFlags.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc::cli;
using mlc::runtime::printable;

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

llvm::Error TrainingOptions::readSamples(const TrainingModel &read) {
  if (read.batch < 1) {
    for (const SamplePort &port : read.ports)
      if (!port.dims.empty() && port.dims[0] < 0)
        return fail(Exit::Usage,
                    model + ": the input '" + printable(port.name) +
                        "' leaves open how many samples a batch has (" +
                        printable(port.texts[0]) + "); give --batch=NUMBER");
    return fail(Exit::Usage, model + ": has no input with samples");
  }
  auto one = [&](const std::string &file)
      -> llvm::Expected<std::shared_ptr<const TrainingData>> {
    auto found =
        TrainingData::read(file, read.ports, read.batch, read.readsNaN);
    if (!found)
      return found.takeError();
    for (auto [i, port] : llvm::enumerate(read.ports))
      if (read.classes && port.name == read.target)
        if (llvm::Error error =
                checkLabels(found->array(i), *read.classes, port.name))
          return error;
    return std::make_shared<const TrainingData>(std::move(*found));
  };
  auto found = one(data);
  if (!found)
    return found.takeError();
  samples = std::move(*found);
  if (evaluation.empty())
    return llvm::Error::success();
  auto others = one(evaluation);
  if (!others)
    return others.takeError();
  heldOut = std::move(*others);
  return llvm::Error::success();
}

std::string TrainingLoop::settings() const {
  std::string text = fmt::format("model {}\ndata {}\n{}{}batch {}\nseed {}\n",
                                 read.hash, data->hash(), options.loss,
                                 describe(read.optimizer, read.lossScale),
                                 data->batch(), options.seed);
  if (options.accumulate > 1)
    text += fmt::format("accumulated batches {}\n", options.accumulate);
  return text + options.distribution;
}

llvm::Error TrainingLoop::resumeFromCheckpoint() {
  if (!options.resume || !llvm::sys::fs::exists(options.checkpoint))
    return llvm::Error::success();
  Checkpoint state = trainer.outline();
  state.settings = settings();
  if (llvm::Error error = readCheckpoint(options.checkpoint, state))
    return error;
  if (state.step > options.steps)
    return fail(Exit::Usage,
                fmt::format("{}: was written after step {}, and --steps={} "
                            "ends before; give at least as many",
                            options.checkpoint, state.step, options.steps));
  isResumed = true;
  return trainer.restore(state);
}

llvm::Error TrainingLoop::open(const LearningRate &rate) {
  data.emplace(options.samples->forPart(trainer.samplePart()));
  if (options.heldOut)
    heldOut.emplace(options.heldOut->forPart(trainer.samplePart()));
  if (llvm::Error error = resumeFromCheckpoint())
    return error;
  stepsBefore = trainer.step();
  skippedBefore = trainer.scale().getSkipped();
  if (llvm::Error error = all.agree(
          settings() + options.shared + (heldOut ? heldOut->hash() : "") +
              fmt::format(" {} {} {} {}", rate.rate,
                          static_cast<int>(rate.schedule), rate.warmup,
                          options.evaluateEvery),
          "another model, other samples or other options",
          "give all ranks the same"))
    return error;
  if (llvm::Error error = all.agree(
          std::to_string(stepsBefore) + " " + std::to_string(options.steps),
          "another checkpoint or other --steps",
          "give all ranks the same, on a disk that they share"))
    return error;
  if (isResumed && tells)
    llvm::outs() << "resumed: after step " << stepsBefore << '\n';
  start = std::chrono::steady_clock::now();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

/// What of the last step's samples it is that no loss can be of; empty where
/// nothing is known. All ranks have all samples, so that each can tell.
std::string TrainingLoop::whyLost() const {
  int64_t first = (trainer.step() - 1) * options.accumulate;
  const char *batch = options.accumulate == 1 ? "its batch" : "its batches";
  if (read.hasLabels &&
      trainer.countLabels(*data, options.seed, trainer.step() - 1) == 0)
    return fmt::format("all labels of {} are negative, which do not count; "
                       "give others, or a larger --batch",
                       batch);
  for (int64_t b = 0; b < options.accumulate; ++b)
    if (std::string found = data->findInfinite(options.seed, first + b);
        !found.empty())
      return fmt::format("{}: {} is not finite; leave such samples out",
                         options.data, found);
  return "";
}

/// Why a step's loss is no number.
llvm::Error TrainingLoop::lostLoss() {
  std::string what = fmt::format("{}: the loss of step {} is not a finite "
                                 "number",
                                 options.model, trainer.step());
  if (std::string why = whyLost(); !why.empty())
    return fail(Exit::Differs, what + ": " + why);
  // Nothing has been changed: no rate is to blame.
  if (trainer.step() == 1)
    return fail(Exit::Differs,
                what + ", and nothing has been trained yet: the model gives "
                       "none for these samples; see what mlc gradients says "
                       "of it, and whether samples are too large");
  return fail(Exit::Differs, what +
                                 "; lower --learning-rate, or give "
                                 "--clip-norm" +
                                 (!llvm::sys::fs::exists(options.checkpoint)
                                      ? ""
                                      : ", and go on from the checkpoint with "
                                        "--resume"));
}

/// Of a step before which `before` were skipped.
llvm::Error TrainingLoop::reportSkipped(int64_t before) const {
  const LossScale &scale = trainer.scale();
  if (scale.getSkipped() == before)
    return llvm::Error::success();
  if (tells) {
    llvm::outs() << fmt::format("step {}  skipped: a gradient is not finite; "
                                "loss scale {:g}\n",
                                trainer.step(), scale.getScale());
    llvm::outs().flush();
  }
  if (!scale.isStuck())
    return llvm::Error::success();
  return fail(Exit::Differs,
              fmt::format("{}: {} steps in a row changed nothing, because a "
                          "gradient is not finite; give a smaller "
                          "--loss-scale, or weights and samples that are "
                          "smaller",
                          options.model, LossScale::mostFailed));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Where training stands, which the first rank writes where `writes`. What is
/// not finite is not kept: nothing goes on from there.
llvm::Error TrainingLoop::keep(bool writes) {
  auto now = trainer.checkpoint();
  if (!now)
    return now.takeError();
  std::string name = findInfinite(*now);
  // Ranks that have no more than parts see nothing of the others'.
  auto found = trainer.ranks().gather(int64_t(!name.empty()));
  if (!found)
    return found.takeError();
  auto first = llvm::find(*found, 1);
  if (first != found->end() && name.empty())
    name = fmt::format("a part on rank {}", first - found->begin());
  if (!name.empty())
    return fail(Exit::Differs,
                fmt::format("{}: '{}' is not finite after step {}, and nothing "
                            "is written; lower --learning-rate, or give "
                            "--clip-norm",
                            options.model, printable(name), trainer.step()));
  if (!writes || !tells)
    return llvm::Error::success();
  now->settings = settings();
  return writeCheckpoint(options.checkpoint, *now);
}

/// Prints what the step has come to.
llvm::Error TrainingLoop::report(double loss, bool isLast) {
  int64_t step = trainer.step();
  if (tells && (step % options.printEvery == 0 || isLast))
    llvm::outs() << fmt::format("step {}  loss {:.9g}\n", step, loss);
  if (heldOut && (step % options.evaluateEvery == 0 || isLast)) {
    auto found = trainer.evaluate(*heldOut);
    if (!found)
      return found.takeError();
    if (tells)
      llvm::outs() << fmt::format("step {}  held-out loss {:.9g}\n", step,
                                  *found);
    if (tells && !std::isfinite(*found))
      warn(options.evaluation,
           "the loss of one of its batches is not a finite number: all its "
           "labels are negative, or a sample or the weights are too large");
  }
  if (tells)
    llvm::outs().flush();
  return llvm::Error::success();
}

llvm::Error TrainingLoop::take(double loss, int64_t skipped) {
  bool isLast = stepsLeft() == 0;
  if (!std::isfinite(loss))
    return lostLoss();
  if (llvm::Error error = reportSkipped(skipped))
    return error;
  if (llvm::Error error = report(loss, isLast))
    return error;
  bool isKept = trainer.step() % options.checkpointEvery == 0 || isLast;
  if ((isKept && !options.checkpoint.empty()) || isLast)
    if (llvm::Error error = keep(!options.checkpoint.empty()))
      return error;
  return isLast ? checkLearned() : llvm::Error::success();
}

/// An error for a run that has changed nothing. Where a checkpoint keeps a
/// scale that goes down, it is the begin of one that does.
llvm::Error TrainingLoop::checkLearned() const {
  const LossScale &scale = trainer.scale();
  const int64_t steps = trainer.step() - stepsBefore;
  if (steps == 0 || scale.getSkipped() - skippedBefore < steps)
    return llvm::Error::success();
  const bool isDynamic = scale.getKind() == LossScale::Kind::Dynamic;
  const std::string what = fmt::format(
      "nothing was learned: a gradient was not finite in any of {} steps, the "
      "last with a loss scale of {:g}; give {}",
      steps, scale.getScale(),
      isDynamic ? "more --steps, which halve it" : "a smaller --loss-scale");
  if (!isDynamic || options.checkpoint.empty())
    return fail(Exit::Differs, options.model + ": " + what);
  if (tells)
    warn(options.model, what);
  return llvm::Error::success();
}

llvm::Error TrainingLoop::run(const LearningRate &rate) {
  while (stepsLeft() > 0) {
    int64_t skipped = trainer.scale().getSkipped();
    auto loss = trainer.run(*data, options.seed, rate);
    if (!loss)
      return loss.takeError();
    if (llvm::Error error = take(*loss, skipped))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error TrainingLoop::printUse(uint64_t sent) {
  int64_t steps = trainer.step() - stepsBefore;
  if (steps == 0)
    return llvm::Error::success();
  auto memory = trainer.memory();
  if (!memory)
    return memory.takeError();
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  auto each = all.gather({static_cast<int64_t>(memory->states),
                          static_cast<int64_t>(sent) / steps});
  if (!each)
    return each.takeError();
  if (!tells)
    return llvm::Error::success();
  if (int64_t skipped = trainer.scale().getSkipped() - skippedBefore)
    llvm::errs() << fmt::format("{} of {} steps changed nothing, because a "
                                "gradient was not finite\n",
                                skipped, steps);
  auto megabytes = [](uint64_t bytes) { return double(bytes) / (1 << 20); };
  llvm::errs() << fmt::format("{} steps in {:.3g} s\nmemory: {:.2f} MB of "
                              "states, {:.2f} MB for a step (at least {:.2f} "
                              "MB in this order); {} allocations "
                              "after the first step\n",
                              steps, seconds, megabytes(memory->states),
                              megabytes(memory->arena),
                              megabytes(memory->bound), memory->allocations);
  for (int r = 0; all.size() > 1 && r < all.size(); ++r)
    llvm::errs() << fmt::format("rank {}: {} bytes of states, {} bytes sent "
                                "for a step{}\n",
                                r, (*each)[2 * r], (*each)[2 * r + 1],
                                options.isPartlyCounted
                                    ? ", without the engine's own collectives"
                                    : "");
  return llvm::Error::success();
}
