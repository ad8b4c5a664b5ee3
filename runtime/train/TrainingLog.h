//===- TrainingLog.h - A file with a row for each step ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_TRAININGLOG_H
#define MLC_RUNTIME_TRAIN_TRAININGLOG_H

#include "runtime/train/LogFormat.h"
#include "runtime/train/LoopObserver.h"
#include "runtime/train/Option.h"

namespace mlc::runtime::train {

/// The place and format of a log.
struct LogPlace {
  enum class Format { Csv, JsonLines, Events };
  Format format = Format::Csv;
  std::string file;
  /// For events: the file's folder, which is made if missing.
  std::string folder;

  /// Parses "FILE.csv", "FILE.jsonl" or "tensorboard:FOLDER".
  static Status parse(const std::string &text, Spelling spelling,
                      LogPlace &place);
  /// Fails early if nothing can be written there.
  Status check() const;
};

/// A row for each step, written at once when the step is done, so that rows
/// stay whole however the process ends. Training that resumes from a checkpoint
/// drops the rows of later steps and appends its own. Other training starts the
/// file anew.
class TrainingLog : public LoopObserver {
public:
  explicit TrainingLog(LogPlace place);
  ~TrainingLog() override;

  /// Fails if the file cannot be written, or on resume is not a log.
  Status onBegin(int64_t step, bool isResumed) override;
  void onStep(const StepReport &report) override;
  void onEvaluation(const EvaluationReport &report) override;
  /// Fails on a full disk.
  Status onStepEnd() override;

private:
  Status findKept(int64_t step, size_t &bytes) const;
  Status write(const std::string &bytes);

  const LogPlace place;
  const std::unique_ptr<LogFormat> format;
  LogRow row;
  int fd = -1;
  /// The size of a regular file, which is cut there if a row is incomplete.
  std::optional<size_t> size;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_TRAININGLOG_H
