//===- TextLog.cpp - A log of training as CSV or lines of JSON ------------===//

#include "runtime/train/LogFormat.h"

#include <charconv>
#include <cmath>
#include <cstdio>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

/// As the command line prints a loss.
static std::string text(double number) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.9g", number);
  return buffer;
}

namespace {

/// One row per line.
class LineFormat : public LogFormat {
public:
  std::optional<size_t> sizeUpTo(std::string_view file,
                                 int64_t step) const override {
    const std::string first = header();
    if (file.substr(0, first.size()) != first)
      return std::nullopt;
    for (size_t at = first.size();;) {
      const size_t end = file.find('\n', at);
      if (end == std::string_view::npos)
        return at;
      std::optional<int64_t> found = stepOf(file.substr(at, end - at));
      if (!found)
        return std::nullopt;
      if (*found > step)
        return at;
      at = end + 1;
    }
  }

protected:
  /// The text of a line before and after its step.
  virtual std::string_view beforeStep() const = 0;
  virtual char behindStep() const = 0;

private:
  std::optional<int64_t> stepOf(std::string_view line) const {
    const std::string_view before = beforeStep();
    if (line.substr(0, before.size()) != before)
      return std::nullopt;
    int64_t step = 0;
    const char *end = line.data() + line.size();
    auto read = std::from_chars(line.data() + before.size(), end, step);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != behindStep())
      return std::nullopt;
    return step;
  }
};

class CsvFormat : public LineFormat {
public:
  std::string header() const override {
    std::string line = "step";
    for (const char *name : logColumns)
      line += std::string(",") + name;
    return line + "\n";
  }

  std::string row(const LogRow &row) const override {
    std::string line = std::to_string(row.step);
    for (const std::optional<double> &value : row.values)
      line += "," + (value ? text(*value) : "");
    return line + "\n";
  }

private:
  std::string_view beforeStep() const override { return ""; }
  char behindStep() const override { return ','; }
};

class JsonLinesFormat : public LineFormat {
public:
  std::string header() const override { return ""; }

  std::string row(const LogRow &row) const override {
    std::string line = begin + std::to_string(row.step);
    for (size_t i = 0; i < numLogColumns; ++i)
      if (const std::optional<double> &value = row.values[i])
        // JSON has only finite numbers.
        line += std::string(", \"") + logColumns[i] +
                "\": " + (std::isfinite(*value) ? text(*value) : "null");
    return line + "}\n";
  }

private:
  std::string_view beforeStep() const override { return begin; }
  char behindStep() const override { return ','; }

  const std::string begin = "{\"step\": ";
};

} // namespace

std::unique_ptr<LogFormat> train::makeCsvFormat() {
  return std::make_unique<CsvFormat>();
}

std::unique_ptr<LogFormat> train::makeJsonLinesFormat() {
  return std::make_unique<JsonLinesFormat>();
}
