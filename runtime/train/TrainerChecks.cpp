//===- TrainerChecks.cpp - Whether training still learns ------------------===//

#include "runtime/Text.h"
#include "runtime/train/Trainer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

std::string Trainer::whyNoLoss(const BatchSource &source, int64_t step) const {
  if (!training().labels)
    return "";
  // Those of an update are averaged together.
  std::map<int64_t, int64_t> counted;
  const int64_t batches = training().accumulate;
  for (int64_t b = 0; b < batches; ++b)
    counted[entries.lossGroupOf(b)] += source.countLabels(step * batches + b);
  if (std::all_of(counted.begin(), counted.end(),
                  [](const auto &group) { return group.second > 0; }))
    return "";
  if (counted.size() > 1)
    return "all labels of an update's batches are negative, which do not "
           "count; give others, or a larger " +
           option(options.spelling, "batch");
  return std::string("all labels of ") +
         (training().accumulate == 1 ? "its batch" : "its batches") +
         " are negative, which do not count; give others, or a larger " +
         option(options.spelling, "batch");
}

std::string Trainer::whyInfinite(const BatchSource &source,
                                 int64_t step) const {
  const int64_t batches = training().accumulate;
  for (int64_t b = 0; b < batches; ++b)
    if (std::string found = source.findInfinite(step * batches + b);
        !found.empty())
      return found + " is not finite; leave such samples out";
  return "";
}

/// A number of the optimizer's settings, which are lines of text; 0 without it.
static double settingOf(const Training &training, const std::string &name) {
  const std::string lines = "\n" + training.optimizer;
  const size_t at = lines.find("\n" + name + " ");
  return at == std::string::npos
             ? 0
             : std::strtod(lines.c_str() + at + name.size() + 2, nullptr);
}

/// What may help where numbers have grown beyond floats; nothing that is given
/// already.
std::string Trainer::howToConverge() const {
  std::string text = "lower " + option(options.spelling, "learning-rate");
  // A larger one multiplies the weights by itself.
  if (settingOf(training(), "weight decay") >= 1)
    text += " or " + option(options.spelling, "weight-decay");
  if (settingOf(training(), "clipped norm") == 0)
    text += ", or give " + option(options.spelling, "clip-norm");
  // On a command line the run is over.
  if (options.spelling == Spelling::Keywords)
    text += ", and go on from a checkpoint or with a new trainer";
  return text;
}

Status Trainer::check(double loss, BatchSource &source, bool resumes) const {
  auto differs = [&](const std::string &what) {
    return named(Status::error(MLC_DIFFERS, what));
  };
  const Spelling spelling = options.spelling;
  if (lossScale.isStuck())
    return differs(std::to_string(LossScale::mostFailed) +
                   " steps in a row changed nothing, because a gradient is "
                   "not finite; give a smaller " +
                   option(spelling, "loss-scale") +
                   ", or weights and samples that are smaller");
  if (std::isfinite(loss))
    return Status::success();
  std::string what =
      "the loss of step " + std::to_string(done) + " is not a finite number";
  for (const std::string &why :
       {whyNoLoss(source, done - 1), whyInfinite(source, done - 1)})
    if (!why.empty())
      return differs(what + ": " + why);
  // Before the first update the learning rate cannot be the cause.
  if (done == 1)
    return differs(what + ", and nothing has been trained yet: the model gives "
                          "none for these samples; see what mlc gradients says "
                          "of it, and whether samples are too large");
  return differs(what + "; " + howToConverge() +
                 (resumes ? ", and go on from the checkpoint with " +
                                option(spelling, "resume")
                          : ""));
}

Status Trainer::checkFinite(const Checkpoint &now) const {
  std::string name = findInfinite(now);
  // A rank that holds only shards does not see those of the others.
  std::vector<int64_t> found;
  if (Status status = group().gather({int64_t(!name.empty())}, found);
      !status.ok())
    return status;
  auto first = std::find(found.begin(), found.end(), 1);
  if (first == found.end())
    return Status::success();
  if (name.empty())
    name = "a part on rank " + std::to_string(first - found.begin());
  return named(Status::error(
      MLC_DIFFERS, "'" + printable(name) + "' is not finite after step " +
                       std::to_string(done) + ", and nothing is written; " +
                       howToConverge()));
}
