//===- TrainReport.cpp - What mlc train prints ----------------------------===//

#include "tools/mlc/TrainReport.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include <fmt/format.h>

using namespace mlc::cli;
using mlc::Weight;
using mlc::runtime::printable;
namespace train = mlc::runtime::train;

static void tellLine(const std::string &line) {
  llvm::outs() << line;
  llvm::outs().flush();
}

void TrainReport::onResume(int64_t step) {
  tellLine(fmt::format("resumed: after step {}\n", step));
}

void TrainReport::onStep(int64_t step, double loss, double) {
  if (step % printEvery == 0 || step == steps)
    tellLine(fmt::format("step {}  loss {:.9g}\n", step, loss));
}

void TrainReport::onSkip(int64_t step, double scale) {
  tellLine(fmt::format("step {}  skipped: a gradient is not finite; loss scale "
                       "{:g}\n",
                       step, scale));
}

void TrainReport::onEvaluation(int64_t step, double loss) {
  tellLine(fmt::format("step {}  held-out loss {:.9g}\n", step, loss));
}

void TrainReport::onWarning(const std::string &file, const std::string &text) {
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
  std::vector<int64_t> each;
  if (auto status = all.gather({static_cast<int64_t>(memory.states),
                                static_cast<int64_t>(sent) / steps},
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
  llvm::errs() << fmt::format("{} steps in {:.3g} s\nmemory: {:.2f} MB of "
                              "states, {:.2f} MB for a step (at least {:.2f} "
                              "MB in this order); {} allocations "
                              "after the first step\n",
                              steps, seconds, megabytes(memory.states),
                              megabytes(memory.arena), megabytes(memory.bound),
                              memory.allocations);
  for (int r = 0; all.size() > 1 && r < all.size(); ++r)
    llvm::errs() << fmt::format(
        "rank {}: {} bytes of states, {} bytes sent "
        "for a step{}\n",
        r, each[2 * r], each[2 * r + 1],
        isPartlyCounted ? ", without the engine's own collectives" : "");
  return llvm::Error::success();
}
