//===- TrainReport.h - What mlc train prints --------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINREPORT_H
#define MLC_TOOLS_MLC_TRAINREPORT_H

#include "runtime/train/Loop.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// Prints what happens in a training as it goes on. Where stderr is a terminal,
/// its last line says how fast that is, and how long it will take.
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

/// Which weights are trained, and why others are not; `file` begins warnings.
void printWeights(const TrainingModel &read, llvm::StringRef file);

/// Prints to stderr, on the rank that `tells`, what training took; all ranks
/// call it together. This one has sent `sent` bytes in steps; where
/// `isPartlyCounted` an engine's own collectives sent others.
llvm::Error printUse(const runtime::train::Trainer &trainer,
                     const runtime::train::Loop &loop,
                     const runtime::train::Group &all, uint64_t sent,
                     bool isPartlyCounted, bool tells);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINREPORT_H
