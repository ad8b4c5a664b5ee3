//===- TrainingLog.cpp - A file with a row for each step ------------------===//

#include "runtime/train/TrainingLog.h"
#include "runtime/FileBytes.h"
#include "runtime/OutputFiles.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// Place
//===----------------------------------------------------------------------===//

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() > end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Status LogPlace::parse(const std::string &text, Spelling spelling,
                       LogPlace &place) {
  const std::string events = "tensorboard:";
  place = LogPlace();
  place.file = text;
  if (text.rfind(events, 0) == 0 && text.size() > events.size()) {
    place.format = Format::Events;
    place.folder = text.substr(events.size());
    // TensorBoard finds files by "tfevents" in their names.
    place.file = place.folder + "/events.out.tfevents.mlc";
    return Status::success();
  }
  place.format = endsWith(text, ".csv") ? Format::Csv : Format::JsonLines;
  if (endsWith(text, ".csv") || endsWith(text, ".jsonl"))
    return Status::success();
  return Status::error(MLC_USAGE, option(spelling, "log") + "=" + text +
                                      ": is no log; give FILE.csv, FILE.jsonl "
                                      "or tensorboard:FOLDER");
}

static bool isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

static std::string parentOf(const std::string &path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = path.rfind('/', end);
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status LogPlace::check() const {
  auto usage = [](const std::string &what) {
    return Status::error(MLC_USAGE, what);
  };
  const bool isMade =
      format == Format::Events && access(folder.c_str(), F_OK) != 0;
  const std::string parent = parentOf(isMade ? folder : file);
  if (!isFolder(parent))
    return usage((isMade ? folder : file) + ": there is no folder '" + parent +
                 "'");
  if (isFolder(file))
    return usage(file + ": is a folder; give a file");
  const bool exists = !isMade && access(file.c_str(), F_OK) == 0;
  const std::string &written = exists ? file : parent;
  return access(written.c_str(), W_OK) == 0 ? Status::success()
                                            : cannotWrite(errno, file);
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

static std::unique_ptr<LogFormat> makeFormat(LogPlace::Format format) {
  switch (format) {
  case LogPlace::Format::Csv:
    return makeCsvFormat();
  case LogPlace::Format::JsonLines:
    return makeJsonLinesFormat();
  case LogPlace::Format::Events:
    return makeEventFormat();
  }
  return nullptr;
}

TrainingLog::TrainingLog(LogPlace place)
    : place(std::move(place)), format(makeFormat(this->place.format)) {}

TrainingLog::~TrainingLog() {
  if (fd >= 0)
    close(fd);
}

/// Finds the size of the rows up to `step` in the file.
Status TrainingLog::findKept(int64_t step, size_t &bytes) const {
  FileBytes file;
  Status status = FileBytes::read(place.file.c_str(), uint64_t(1) << 32, file);
  if (!status.ok())
    return Status::error(status.code, place.file + ": " + status.message);
  bytes = 0;
  if (file.text().empty())
    return Status::success();
  std::optional<size_t> found = format->sizeUpTo(file.text(), step);
  if (!found)
    return Status::error(MLC_USAGE, place.file +
                                        ": is no log of mlc train to go on "
                                        "with; give another file");
  bytes = *found;
  return Status::success();
}

Status TrainingLog::onBegin(int64_t step, bool isResumed) {
  if (!place.folder.empty() && mkdir(place.folder.c_str(), 0777) != 0 &&
      errno != EEXIST)
    return cannotWrite(errno, place.folder);
  fd =
      open(place.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0)
    return cannotWrite(errno, place.file);
  size_t kept = 0;
  if (S_ISREG(info.st_mode)) {
    if (isResumed)
      if (Status status = findKept(step, kept); !status.ok())
        return status;
    if (ftruncate(fd, off_t(kept)) != 0)
      return cannotWrite(errno, place.file);
    size = kept;
  }
  return kept ? Status::success() : write(format->header());
}

void TrainingLog::onStep(const StepReport &report) {
  row = LogRow();
  row.step = report.step;
  row.values[kLogLoss] = report.loss;
  row.values[kLogRate] = report.rate;
  row.values[kLogSpeed] = report.samplesPerSecond;
  row.values[kLogScale] = report.lossScale;
  if (report.isSkipped)
    row.values[kLogSkipped] = *report.isSkipped;
}

void TrainingLog::onEvaluation(const EvaluationReport &report) {
  row.values[kLogHeldOut] = report.loss;
  if (report.metric == Metric::Accuracy)
    row.values[kLogAccuracy] = report.value;
  if (report.metric == Metric::Perplexity)
    row.values[kLogPerplexity] = report.value;
}

Status TrainingLog::onStepEnd() { return write(format->row(row)); }

Status TrainingLog::write(const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      const int code = n < 0 ? errno : EIO;
      if (size && ftruncate(fd, off_t(*size)) != 0)
        return cannotWrite(errno, place.file);
      return cannotWrite(code, place.file);
    }
    done += size_t(n);
  }
  if (size)
    *size += bytes.size();
  return Status::success();
}
