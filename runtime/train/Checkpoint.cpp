//===- Checkpoint.cpp - The state of training in a file -------------------===//

#include "runtime/train/Checkpoint.h"
#include "runtime/NpzOutput.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

template <typename T> static bool isFinite(const HostTensor &tensor) {
  const T *data = tensor.as<T>();
  return std::all_of(data, data + tensor.elements(),
                     [](T x) { return std::isfinite(x); });
}

std::string train::findInfinite(const Checkpoint &checkpoint) {
  for (const Checkpoint::Value &value : checkpoint.values)
    if (!(value.tensor.type == MLC_F64 ? isFinite<double>(value.tensor)
                                       : isFinite<float>(value.tensor)))
      return value.name;
  return {};
}

Status train::writeCheckpoint(const std::string &path,
                              const Checkpoint &checkpoint) {
  std::vector<NpzItem> items;
  items.push_back({"step", DType::I64, {}, &checkpoint.step, 8});
  items.push_back({"settings",
                   DType::U8,
                   {int64_t(checkpoint.settings.size())},
                   checkpoint.settings.data(),
                   checkpoint.settings.size()});
  double scale[LossScale::numNumbers];
  checkpoint.lossScale.save(scale);
  if (checkpoint.lossScale.isOn())
    items.push_back({"loss scale",
                     DType::F64,
                     {LossScale::numNumbers},
                     scale,
                     sizeof(scale)});
  if (checkpoint.best)
    items.push_back(
        {checkpoint.bestName, DType::F64, {}, &*checkpoint.best, 8});
  for (const Checkpoint::Value &value : checkpoint.values)
    items.push_back({value.name, static_cast<DType>(value.tensor.type),
                     value.tensor.dims, value.tensor.data.get(),
                     value.tensor.bytes});
  return writeNpzFile(path, items);
}

namespace {

using Lines = std::vector<std::string_view>;

Lines linesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

template <typename Range, typename T>
bool contains(const Range &range, const T &value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

/// The first line that is not in `others`, or empty. Some lines exist for some
/// commands only.
std::string firstBut(const Lines &lines, const Lines &others) {
  for (std::string_view line : lines)
    if (!contains(others, line))
      return std::string(line);
  return {};
}

/// Reads a checkpoint from an open file.
class Reader {
public:
  Reader(const NpzFile &file, const std::string &path, Spelling spelling)
      : file(file), names(file.names()), path(path), spelling(spelling) {}

  Status read(Checkpoint &expected);

private:
  Status bad(const std::string &what) const {
    return Status::badFile(path + ": " + what);
  }
  Status readStep(int64_t &step) const;
  Status readSettings(const std::string &wanted) const;
  Status checkTrained(const Checkpoint &expected) const;
  Status readValue(Checkpoint::Value &value) const;
  Status readScale(LossScale &scale) const;
  Status readBest(const std::string &name, std::optional<double> &best) const;

  const NpzFile &file;
  const std::vector<std::string> names;
  const std::string &path;
  Spelling spelling;
};

Status Reader::readStep(int64_t &step) const {
  NpyArray array;
  if (Status status = file.read("step", array); !status.ok())
    return status;
  if (array.type != DType::I64 || array.bytes != 8)
    return bad("is no checkpoint: 'step' is no number");
  std::memcpy(&step, array.data.data(), sizeof(step));
  // Keeps the counts of batches and samples from overflowing.
  constexpr int64_t mostSteps = int64_t(1) << 40;
  return step < 0 || step > mostSteps
             ? bad("is no checkpoint: 'step' is negative, or more than 2^40")
             : Status::success();
}

/// An error that names the first lines that differ.
Status Reader::readSettings(const std::string &wanted) const {
  NpyArray array;
  if (Status status = file.read("settings", array); !status.ok())
    return status;
  const std::string_view found(
      reinterpret_cast<const char *>(array.data.data()), array.bytes);
  if (found == wanted)
    return Status::success();
  const Lines have = linesOf(found), want = linesOf(wanted);
  std::string had = firstBut(have, want), has = firstBut(want, have);
  if (had.empty() && has.empty())
    return bad("is no checkpoint of this version");
  std::string what = had.empty()   ? "without " + has
                     : has.empty() ? "with " + had
                                   : "with " + had + ", not " + has;
  // On a command line the samples are always given.
  const bool isSamples =
      spelling == Spelling::Keywords && had.rfind("data ", 0) == 0;
  return Status::error(
      MLC_USAGE,
      path + ": was made " + printable(what) +
          (isSamples ? "; give load() the samples that it was made with"
                     : "; go on as it was, or begin anew without " +
                           option(spelling, "resume")));
}

/// An error if the file has a weight that is not trained now.
Status Reader::checkTrained(const Checkpoint &expected) const {
  auto isExpected = [&](const std::string &name) {
    return std::any_of(
        expected.values.begin(), expected.values.end(),
        [&](const Checkpoint::Value &value) { return value.name == name; });
  };
  for (const std::string &name : names)
    if (name.rfind(weightPrefix, 0) == 0 && !isExpected(name))
      return Status::error(
          MLC_USAGE, path + ": '" + printable(name) +
                         "' was trained, and is not now; give " +
                         option(spelling, "train") + " and " +
                         option(spelling, "freeze") + " as it was made with");
  return Status::success();
}

Status Reader::readValue(Checkpoint::Value &value) const {
  if (!contains(names, value.name))
    return bad("has no '" + printable(value.name) +
               "'; it is of another model");
  NpyArray array;
  if (Status status = file.read(value.name, array); !status.ok())
    return status;
  if (static_cast<mlc_dtype>(array.type) != value.tensor.type ||
      array.dims != value.tensor.dims)
    return bad("'" + printable(value.name) +
               "' has another type or other dims than the model's");
  value.tensor = HostTensor::of(std::move(array));
  return Status::success();
}

Status Reader::readScale(LossScale &scale) const {
  if (!scale.isOn())
    return Status::success();
  NpyArray array;
  double numbers[LossScale::numNumbers];
  const bool isThere = contains(names, "loss scale");
  if (isThere)
    if (Status status = file.read("loss scale", array); !status.ok())
      return status;
  const bool fits =
      isThere && array.type == DType::F64 && array.bytes == sizeof(numbers);
  if (fits)
    std::memcpy(numbers, array.data.data(), sizeof(numbers));
  return fits && scale.load(numbers)
             ? Status::success()
             : bad("is no checkpoint: 'loss scale' is none");
}

/// Reads the best evaluation, absent if the best was not kept.
Status Reader::readBest(const std::string &name,
                        std::optional<double> &best) const {
  NpyArray array;
  if (name.empty() || !contains(names, name))
    return Status::success();
  if (Status status = file.read(name, array); !status.ok())
    return status;
  double found = 0;
  if (array.type != DType::F64 || array.bytes != sizeof(found))
    return bad("is no checkpoint: '" + name + "' is no number");
  std::memcpy(&found, array.data.data(), sizeof(found));
  best = found;
  return Status::success();
}

Status Reader::read(Checkpoint &expected) {
  for (const char *name : {"step", "settings"})
    if (!contains(names, name))
      return bad(std::string("is no checkpoint: it has no '") + name +
                 "'; give what " + option(spelling, "checkpoint") + " wrote");
  Checkpoint found = expected;
  Status status = readStep(found.step);
  if (status.ok())
    status = readSettings(expected.settings);
  if (status.ok())
    status = checkTrained(expected);
  for (Checkpoint::Value &value : found.values)
    if (status.ok())
      status = readValue(value);
  if (status.ok())
    status = readScale(found.lossScale);
  if (status.ok())
    status = readBest(found.bestName, found.best);
  if (status.ok())
    expected = std::move(found);
  return status;
}

} // namespace

Status train::readCheckpoint(const std::string &path, Spelling spelling,
                             Checkpoint &expected) {
  NpzFile file;
  Status status = file.open(path);
  return status.ok() ? Reader(file, path, spelling).read(expected) : status;
}
