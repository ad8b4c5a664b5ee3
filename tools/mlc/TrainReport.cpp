//===- TrainReport.cpp - The output of mlc train --------------------------===//

#include "tools/mlc/TrainReport.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include <cmath>
#include <fmt/format.h>
#include <unistd.h>

using namespace mlc::cli;
using mlc::Weight;
using mlc::runtime::printable;
using mlc::runtime::Status;
namespace train = mlc::runtime::train;

/// Restarts the terminal's line.
static constexpr llvm::StringLiteral anew = "\r\x1b[K";

static std::string speed(double samplesPerSecond) {
  return samplesPerSecond < 100
             ? fmt::format("{:.3g} samples/s", samplesPerSecond)
             : fmt::format("{:.0f} samples/s", samplesPerSecond);
}

TrainReport::TrainReport(int64_t steps, int64_t printEvery)
    : steps(steps), printEvery(printEvery), isWatched(isatty(STDERR_FILENO)) {}

TrainReport::~TrainReport() { clearProgress(); }

void TrainReport::clearProgress() {
  if (isShown)
    llvm::errs() << anew;
  isShown = false;
}

/// Updates the line a few times per second.
void TrainReport::showProgress(const train::StepReport &report) {
  const auto now = std::chrono::steady_clock::now();
  if (!isWatched || now - shown < std::chrono::milliseconds(200))
    return;
  const auto left = int64_t(std::ceil(report.secondsLeft));
  llvm::errs() << anew
               << fmt::format("step {} of {}  {}  {}:{:02}:{:02} left",
                              report.step, steps,
                              speed(report.samplesPerSecond), left / 3600,
                              left / 60 % 60, left % 60);
  isShown = true;
  shown = now;
}

void TrainReport::tellLine(const std::string &line) {
  clearProgress();
  llvm::outs() << line;
  llvm::outs().flush();
}

Status TrainReport::onBegin(int64_t step, bool isResumed) {
  if (isResumed)
    tellLine(fmt::format("resumed: after step {}\n", step));
  return Status::success();
}

void TrainReport::onStep(const train::StepReport &report) {
  if (report.step % printEvery == 0 || report.step == steps)
    tellLine(fmt::format("step {}  loss {:.9g}\n", report.step, report.loss));
  showProgress(report);
}

void TrainReport::onSkip(int64_t step, double scale) {
  tellLine(fmt::format("step {}  skipped: a gradient is not finite; loss scale "
                       "{:g}\n",
                       step, scale));
}

void TrainReport::onEvaluation(const train::EvaluationReport &report) {
  std::string line =
      fmt::format("step {}  held-out loss {:.9g}", report.step, report.loss);
  if (report.metric == train::Metric::Accuracy)
    line += fmt::format("  accuracy {:.4g} %", 100 * report.value);
  if (report.metric == train::Metric::Perplexity)
    line += fmt::format("  perplexity {:.6g}", report.value);
  tellLine(line + "\n");
}

void TrainReport::onWarning(const std::string &file, const std::string &text) {
  clearProgress();
  warn(file, text);
}

void mlc::cli::printWeights(const TrainingModel &read, llvm::StringRef file) {
  size_t elements = 0, width = 0;
  for (const Weight &weight : read.weights)
    width = std::max(width, printable(weight.name).size());
  for (const Weight *weight : read.trained()) {
    size_t count = 1;
    for (int64_t dim : weight->dims)
      count *= dim;
    elements += count;
  }
  llvm::outs() << "trained: " << read.trained().size() << " weights of "
               << elements << " elements\n";
  for (const std::string &merged : read.merged)
    warn(file, merged);
  for (const Weight &weight : read.weights)
    if (!weight.frozen.empty())
      llvm::outs() << (weight.isStatistic ? "moved:   " : "frozen:  ")
                   << llvm::left_justify(printable(weight.name), width + 2)
                   << weight.frozen << '\n';
}

llvm::Error mlc::cli::printUse(const train::Trainer &trainer,
                               const train::Loop &loop, const train::Group &all,
                               uint64_t sent, bool isPartlyCounted,
                               bool tells) {
  const int64_t steps = loop.stepsTaken();
  if (steps == 0)
    return llvm::Error::success();
  train::TrainingMemory memory;
  if (auto status = trainer.memory(memory); !status.ok())
    return statusFailure(status);
  const double seconds = loop.seconds();
  const double samplesPerSecond = loop.samplesPerSecond();
  std::vector<int64_t> each;
  if (auto status =
          all.gather({static_cast<int64_t>(memory.states),
                      static_cast<int64_t>(sent) / steps,
                      static_cast<int64_t>(memory.arena - memory.carried),
                      static_cast<int64_t>(memory.carried),
                      static_cast<int64_t>(memory.sums),
                      static_cast<int64_t>(memory.samples),
                      static_cast<int64_t>(memory.scratch)},
                     each);
      !status.ok())
    return statusFailure(status);
  if (!tells)
    return llvm::Error::success();
  if (int64_t skipped = loop.stepsSkipped())
    llvm::errs() << fmt::format("{} of {} steps changed nothing, because a "
                                "gradient was not finite\n",
                                skipped, steps);
  auto megabytes = [](uint64_t bytes) { return double(bytes) / (1 << 20); };
  llvm::errs() << fmt::format("{} steps in {:.3g} s, {}\nmemory: {:.2f} MB of "
                              "states, {:.2f} MB for a step (at least {:.2f} "
                              "MB in this order); {} allocations "
                              "after the first step\n",
                              steps, seconds, speed(samplesPerSecond),
                              megabytes(memory.states), megabytes(memory.arena),
                              megabytes(memory.bound), memory.allocations);
  for (int r = 0; all.size() > 1 && r < all.size(); ++r) {
    const int64_t *own = &each[r * (each.size() / all.size())];
    llvm::errs() << fmt::format(
        "rank {}: {} bytes of states, {} bytes sent "
        "for a step{}\n",
        r, own[0], own[1],
        isPartlyCounted ? ", without the engine's own collectives" : "");
    // What mlc simulate predicts.
    if (trainer.training().stages > 1)
      llvm::errs() << fmt::format("rank {}: {} bytes of arenas, {} carried "
                                  "between entries, {} of sums, {} of samples, "
                                  "{} of scratch\n",
                                  r, own[2], own[3], own[4], own[5], own[6]);
  }
  return llvm::Error::success();
}
