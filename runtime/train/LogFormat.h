//===- LogFormat.h - How a log of training is written -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOGFORMAT_H
#define MLC_RUNTIME_TRAIN_LOGFORMAT_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mlc::runtime::train {

/// What a row may have beside its step.
enum LogColumn : size_t {
  kLogLoss,
  kLogRate,
  kLogSpeed,
  kLogScale,
  kLogSkipped,
  kLogHeldOut,
  kLogAccuracy,
  kLogPerplexity,
  numLogColumns,
};
inline constexpr const char *logColumns[numLogColumns] = {
    "loss",    "learning_rate", "samples_per_second", "loss_scale",
    "skipped", "held_out_loss", "accuracy",           "perplexity"};

/// What a step has come to.
struct LogRow {
  int64_t step = 0;
  std::array<std::optional<double>, numLogColumns> values;
};

/// Rows of steps that grow, as bytes of a file.
class LogFormat {
public:
  virtual ~LogFormat() = default;
  /// What a file begins with.
  virtual std::string header() const = 0;
  virtual std::string row(const LogRow &row) const = 0;
  /// How many bytes of a file the rows up to `step` take, with the header; what
  /// is not whole at the end is no row. Nothing: the file is no such log.
  virtual std::optional<size_t> sizeUpTo(std::string_view file,
                                         int64_t step) const = 0;
};

/// Columns with their names in the first line, empty where there is nothing.
std::unique_ptr<LogFormat> makeCsvFormat();
/// A JSON object in each line.
std::unique_ptr<LogFormat> makeJsonLinesFormat();
/// What TensorBoard reads: records with checksums, each an Event, a protocol
/// buffer, with a scalar for each value.
std::unique_ptr<LogFormat> makeEventFormat();

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOGFORMAT_H
