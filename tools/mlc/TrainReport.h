//===- TrainReport.h - The output of mlc train ------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINREPORT_H
#define MLC_TOOLS_MLC_TRAINREPORT_H

#include "runtime/train/Loop.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// Prints the progress of training. If stderr is a terminal, its last line
/// shows the speed and the remaining time.
class TrainReport : public runtime::train::LoopObserver {
public:
  TrainReport(int64_t steps, int64_t printEvery);
  ~TrainReport() override;

  runtime::Status onBegin(int64_t step, bool isResumed) override;
  void onStep(const runtime::train::StepReport &report) override;
  void onSkip(int64_t step, double scale) override;
  void onEvaluation(const runtime::train::EvaluationReport &report) override;
  void onWarning(const std::string &file, const std::string &text) override;

private:
  void tellLine(const std::string &line);
  void showProgress(const runtime::train::StepReport &report);
  void clearProgress();

  int64_t steps, printEvery;
  const bool isWatched;
  bool isShown = false;
  std::chrono::steady_clock::time_point shown;
};

/// Prints which weights are trained, and why others are not; `file` begins
/// warnings.
void printWeights(const TrainingModel &read, llvm::StringRef file);

/// Prints the resources of training to stderr, on the rank that `tells`; all
/// ranks call it together. `sent` are the bytes this rank sent in steps; if
/// `isPartlyCounted`, without those of an engine's own collectives.
llvm::Error printUse(const runtime::train::Trainer &trainer,
                     const runtime::train::Loop &loop,
                     const runtime::train::Group &all, uint64_t sent,
                     bool isPartlyCounted, bool tells);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINREPORT_H
