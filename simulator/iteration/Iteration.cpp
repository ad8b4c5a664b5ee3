//===- Iteration.cpp - A measured or planned training iteration -----------===//

#include "simulator/iteration/Iteration.h"
#include "runtime/Text.h"
#include "runtime/plan/Nearest.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::simulator;
using runtime::Status;

namespace {

struct Column {
  const char *name;
  int Iteration::*field; ///< null: a number that is read apart, or not used
  bool optional = false;
};

constexpr Column columns[] = {
    {"gpus", &Iteration::gpus},
    {"global_batch", &Iteration::globalBatch},
    {"micro_batch", &Iteration::microBatch},
    {"hidden", &Iteration::hidden},
    {"heads", &Iteration::heads},
    {"layers", &Iteration::layers},
    {"sequence", &Iteration::sequence},
    {"tensor", &Iteration::tensor},
    {"data", &Iteration::data},
    {"pipeline", &Iteration::pipeline},
    {"iteration_ms", nullptr},
    {"vocabulary", &Iteration::vocabulary, true},
    {"parameters_billion", nullptr, true},
};
constexpr const char *timeName = "iteration_ms";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

Status wrong(size_t line, const std::string &what) {
  return Status::badFile(fmt::format("line {}: {}", line, what));
}

/// The column of each field of the first line.
Status readHeader(std::string_view line, std::vector<const Column *> &found) {
  std::vector<std::string_view> names;
  for (const Column &column : columns)
    names.push_back(column.name);
  for (std::string_view name : split(line, ',')) {
    auto column = std::find(names.begin(), names.end(), name);
    if (column == names.end()) {
      std::string_view nearest = runtime::nearestName(name, names);
      return wrong(
          1, fmt::format(
                 "the column '{}' is unknown; {}", runtime::printable(name),
                 nearest.empty()
                     ? fmt::format("there are {}", fmt::join(names, ", "))
                     : fmt::format("do you mean '{}'?", nearest)));
    }
    const Column *one = &columns[column - names.begin()];
    if (std::find(found.begin(), found.end(), one) != found.end())
      return wrong(1, fmt::format("the column '{}' is there twice", name));
    found.push_back(one);
  }
  for (const Column &column : columns)
    if (!column.optional &&
        std::find(found.begin(), found.end(), &column) == found.end())
      return wrong(1, fmt::format("the column '{}' is missing", column.name));
  return Status::success();
}

Status readField(size_t line, const Column &column, std::string_view text,
                 Iteration &row) {
  const char *end = text.data() + text.size();
  auto expected = [&](const char *what) {
    return wrong(line, fmt::format("{}: expected {}, not '{}'", column.name,
                                   what, runtime::printable(text)));
  };
  if (column.field) {
    constexpr int most = 1 << 24;
    int value = 0;
    auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || value < 1 || value > most)
      return expected("a whole number from 1 to 16777216");
    row.*column.field = value;
    return Status::success();
  }
  double value = 0;
  auto [at, error] = std::from_chars(text.data(), end, value);
  // No iteration is shorter than a microsecond: a kernel's launch takes longer.
  const double least = column.name == timeName ? 1e-3 : 0;
  if (error != std::errc() || at != end || !(value > 0 && value <= 1e9) ||
      value < least)
    return expected(least > 0 ? "a number from 0.001 to 1e9"
                              : "a positive number up to 1e9");
  if (column.name == timeName)
    row.seconds = value / 1e3;
  return Status::success();
}

Status checkRow(size_t line, const Iteration &row, const Cluster &cluster) {
  const int64_t product = int64_t(row.tensor) * row.data * row.pipeline;
  if (product != row.gpus)
    return wrong(line, fmt::format("gpus is {}, and tensor * data * pipeline "
                                   "is {}",
                                   row.gpus, product));
  if (row.gpus > cluster.countRanks())
    return wrong(line, fmt::format("has {} gpus, and the cluster {}; take a "
                                   "cluster with more nodes",
                                   row.gpus, cluster.countRanks()));
  if (row.globalBatch % (int64_t(row.data) * row.microBatch))
    return wrong(line, fmt::format("global_batch {} does not divide into "
                                   "micro-batches of {} on {} ranks",
                                   row.globalBatch, row.microBatch, row.data));
  if (row.layers % row.pipeline)
    return wrong(line, fmt::format("{} layers do not divide into {} stages",
                                   row.layers, row.pipeline));
  if (row.heads % row.tensor || row.hidden % row.heads)
    return wrong(line,
                 fmt::format("{} heads of a width of {} do not divide over {} "
                             "ranks",
                             row.heads, row.hidden, row.tensor));
  return Status::success();
}

} // namespace

Status simulator::readIterations(std::string_view text, const Cluster &cluster,
                                 std::vector<Iteration> &rows) {
  rows.clear();
  std::vector<const Column *> header;
  size_t line = 0;
  for (std::string_view each : split(text, '\n')) {
    ++line;
    if (!each.empty() && each.back() == '\r')
      each.remove_suffix(1);
    if (line == 1) {
      if (Status status = readHeader(each, header); !status.ok())
        return status;
      continue;
    }
    if (each.empty())
      continue;
    const std::vector<std::string_view> fields = split(each, ',');
    if (fields.size() != header.size())
      return wrong(line, fmt::format("has {} fields, and {} columns are named",
                                     fields.size(), header.size()));
    Iteration row;
    for (size_t i = 0; i < fields.size(); ++i)
      if (Status status = readField(line, *header[i], fields[i], row);
          !status.ok())
        return status;
    if (Status status = checkRow(line, row, cluster); !status.ok())
      return status;
    rows.push_back(row);
  }
  return rows.empty() ? wrong(line, "has no rows") : Status::success();
}
