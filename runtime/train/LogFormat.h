//===- LogFormat.h - The formats of training logs ---------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_LOGFORMAT_H
#define MLC_RUNTIME_TRAIN_LOGFORMAT_H

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mlc::runtime::train {

/// The columns of a row besides its step.
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

/// The results of a step.
struct LogRow {
  int64_t step = 0;
  std::array<std::optional<double>, numLogColumns> values;
};

/// Encodes rows of increasing steps as bytes of a file.
class LogFormat {
public:
  virtual ~LogFormat() = default;
  /// The beginning of a file.
  virtual std::string header() const = 0;
  virtual std::string row(const LogRow &row) const = 0;
  /// The bytes of a file that the header and the rows up to `step` take,
  /// without an incomplete row at the end. Nothing if the file is not such a
  /// log.
  virtual std::optional<size_t> sizeUpTo(std::string_view file,
                                         int64_t step) const = 0;
};

/// CSV with column names in the first line; missing values are empty.
std::unique_ptr<LogFormat> makeCsvFormat();
/// JSON Lines: an object in each line.
std::unique_ptr<LogFormat> makeJsonLinesFormat();
/// TensorBoard's format: records with checksums, each an Event protocol buffer,
/// with a scalar for each value.
std::unique_ptr<LogFormat> makeEventFormat();

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_LOGFORMAT_H
