//===- TrainingLog.h - A file that tells of each step -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_TRAININGLOG_H
#define MLC_RUNTIME_TRAIN_TRAININGLOG_H

#include "runtime/train/LogFormat.h"
#include "runtime/train/LoopObserver.h"
#include "runtime/train/Option.h"

namespace mlc::runtime::train {

/// Where a log is, and how it is written.
struct LogPlace {
  enum class Format { Csv, JsonLines, Events };
  Format format = Format::Csv;
  std::string file;
  /// Of events: the file's folder, which is made if it is missing.
  std::string folder;

  /// Of "FILE.csv", "FILE.jsonl" or "tensorboard:FOLDER".
  static Status parse(const std::string &text, Spelling spelling,
                      LogPlace &place);
  /// An error where it is plain already that nothing can be written there.
  Status check() const;
};

/// A row for each step, written as soon as the step is done, in one piece: what
/// ends the process leaves whole rows. A training that goes on from a
/// checkpoint drops the rows of steps behind it and appends its own; another
/// one begins the file anew.
class TrainingLog : public LoopObserver {
public:
  explicit TrainingLog(LogPlace place);
  ~TrainingLog() override;

  /// Errors: a file that cannot be written, one to go on with that is no log.
  Status onBegin(int64_t step, bool isResumed) override;
  void onStep(const StepReport &report) override;
  void onEvaluation(const EvaluationReport &report) override;
  /// Errors: a full disk.
  Status onStepEnd() override;

private:
  Status findKept(int64_t step, size_t &bytes) const;
  Status write(const std::string &bytes);

  const LogPlace place;
  const std::unique_ptr<LogFormat> format;
  LogRow row;
  int fd = -1;
  /// Of a regular file, which is cut where a row is not written whole.
  std::optional<size_t> size;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_TRAININGLOG_H
