//===- Samples.cpp - Samples, in an order set by a seed -------------------===//

#include "runtime/train/Samples.h"
#include "runtime/Blake3.h"
#include "runtime/Random.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

static Status usage(std::string message) {
  return Status::error(MLC_USAGE, std::move(message));
}

template <typename Range, typename Text>
static std::string join(const Range &range, const char *between, Text text) {
  std::string joined;
  for (const auto &each : range)
    joined += (joined.empty() ? "" : between) + text(each);
  return joined;
}

static std::string typeText(const SamplePort &port) {
  return mlc_dtype_name(port.type) +
         ("[" +
          join(port.texts, ", ", [](const std::string &text) { return text; }) +
          "]");
}

/// An error if an array does not fit the port.
static Status checkArray(const HostTensor &tensor, const std::string &path,
                         const SamplePort &port, Spelling spelling) {
  const std::string name = printable(port.name);
  bool fits = tensor.type == port.type && !port.dims.empty() &&
              tensor.dims.size() == port.dims.size();
  std::string open;
  for (size_t i = 1; fits && i < port.dims.size(); ++i) {
    fits = port.dims[i] < 0 || tensor.dims[i] == port.dims[i];
    if (port.dims[i] < 0)
      open += " " +
              (spelling == Spelling::Flags
                   ? option(spelling, "dim") + "=" + port.texts[i] + "="
                   : "dims[" + jsonString(port.texts[i]) + "] = ") +
              std::to_string(tensor.dims[i]);
  }
  if (fits && !open.empty())
    return usage(path + ": the array '" + name +
                 "' has one size, and the input leaves it open; give" +
                 printable(open));
  if (fits)
    return Status::success();
  return usage(
      path + ": the array '" + name + "' is " + mlc_dtype_name(tensor.type) +
      "[" +
      join(tensor.dims, ", ", [](int64_t dim) { return std::to_string(dim); }) +
      "]; a batch takes " + printable(typeText(port)) +
      ", of which the first dim is the sample");
}

/// Describes what samples are checked against.
static std::string whatItTakes(const Training &training) {
  std::string text = "batches of " + std::to_string(training.batch) + ": ";
  text += join(training.samples, ", ", [](const SamplePort &port) {
    return "'" + printable(port.name) + "' " + printable(typeText(port));
  });
  if (training.labels)
    text += ", of " + std::to_string(training.classes) + " classes in '" +
            printable(training.samples[*training.labels].name) + "'";
  return text + (training.takesNaN ? ", NaN too" : "");
}

Status Samples::checkFor(const Training &training) const {
  const std::string takes = whatItTakes(training);
  if (takes == takenBy)
    return Status::success();
  return usage(where("the samples were read for " + takenBy +
                     "; this trainer takes " + takes +
                     "; read them for this one"));
}

std::string Samples::where(const std::string &text) const {
  return path.empty() ? text : path + ": " + text;
}

std::string Samples::describe(size_t i) const {
  return where("'" + printable(names[i]) + "'");
}

Status Samples::add(const SamplePort &port, HostTensor tensor) {
  if (arrays.empty())
    count = tensor.dims[0];
  if (tensor.dims[0] != count)
    return usage(where("the array '" + printable(port.name) + "' has " +
                       std::to_string(tensor.dims[0]) + " samples, and '" +
                       printable(names.front()) + "' " +
                       std::to_string(count)));
  names.push_back(port.name);
  arrays.push_back(std::move(tensor));
  return Status::success();
}

Status Samples::add(const NpzFile &file, const SamplePort &port,
                    Spelling spelling) {
  std::vector<std::string> there = file.names();
  if (std::find(there.begin(), there.end(), port.name) == there.end()) {
    if (there.size() > 10)
      there.resize(10);
    std::string have = join(there, "', '", printable);
    return usage(where("has no array '" + printable(port.name) +
                       "' of samples; it has " +
                       (there.empty() ? "none" : "'" + have + "'")));
  }
  NpyArray array;
  Status status = file.read(port.name, array);
  HostTensor tensor = HostTensor::of(std::move(array));
  if (status.ok())
    status = checkArray(tensor, path, port, spelling);
  return status.ok() ? add(port, std::move(tensor)) : status;
}

Status Samples::finish(const Training &training) {
  takenBy = whatItTakes(training);
  if (count < batchSize)
    return usage(where((path.empty() ? "there are " : "has ") +
                       std::to_string(count) + " samples, and a batch takes " +
                       std::to_string(batchSize) +
                       "; give more samples, or a smaller batch"));
  Blake3 hash;
  for (const HostTensor &array : arrays)
    hash.update(array.data.get(), array.bytes);
  digest = toHex(hash.finish());
  for (size_t i = 0; i < arrays.size() && !training.takesNaN; ++i) {
    const size_t elements = arrays[i].elements();
    int64_t found = findNotFinite(arrays[i], 0, elements, /*isNaN=*/true);
    if (found >= 0)
      return usage(where("the array '" + printable(names[i]) +
                         "' has NaN in sample " +
                         std::to_string(found / (elements / count)) +
                         "; leave such samples out, or put numbers there"));
  }
  if (training.labels && training.classes)
    return checkLabels(arrays[*training.labels], training.classes,
                       names[*training.labels]);
  return Status::success();
}

/// An error unless the first dim of the port is that of a batch's samples.
static Status checkSamples(const Training &training, size_t index,
                           Spelling spelling) {
  const SamplePort &port = training.samples[index];
  const std::string batch = std::to_string(training.batch);
  if (!port.dims.empty() &&
      (port.dims[0] < 0 || port.dims[0] == training.batch))
    return Status::success();
  const std::string what =
      port.dims.empty()
          ? "' is a single number, and a batch has " + batch + " samples"
          : "' has " + std::to_string(port.dims[0]) +
                " as its first dim, and a batch has " + batch +
                " samples, which are the first dim of each input";
  if (training.labels && *training.labels == index)
    return usage("the target '" + printable(port.name) + what +
                 "; give another " + option(spelling, "class-axis") +
                 ", since the axis of the classes must leave that of the "
                 "samples");
  return usage("the input '" + printable(port.name) + what + "; give another " +
               option(spelling, "batch") +
               ", or have the model take this input sample by sample");
}

Status train::checkBatch(const Training &training, Spelling spelling) {
  for (size_t i = 0; i < training.samples.size() && training.batch > 0; ++i)
    if (Status status = checkSamples(training, i, spelling); !status.ok())
      return status;
  if (training.batch > 0)
    return Status::success();
  for (const SamplePort &port : training.samples)
    if (!port.dims.empty() && port.dims[0] < 0)
      return usage("the input '" + printable(port.name) +
                   "' leaves open how many samples a batch has (" +
                   printable(port.texts[0]) + "); give " +
                   option(spelling, "batch") + "=NUMBER");
  return usage("has no input with samples");
}

Status Samples::read(const std::string &path, const Training &training,
                     Spelling spelling, Samples &samples) {
  NpzFile file;
  samples = Samples();
  samples.path = path;
  samples.batchSize = training.batch;
  Status status = checkBatch(training, spelling);
  if (status.ok())
    status = file.open(path);
  for (const SamplePort &port : training.samples)
    if (status.ok())
      status = samples.add(file, port, spelling);
  return status.ok() ? samples.finish(training) : status;
}

Status Samples::of(std::vector<HostTensor> arrays, const Training &training,
                   Samples &samples) {
  samples = Samples();
  samples.batchSize = training.batch;
  Status status;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (status.ok())
      status = samples.add(training.samples[i], std::move(arrays[i]));
  return status.ok() ? samples.finish(training) : status;
}

Status train::checkLabels(const HostTensor &labels, int64_t classes,
                          const std::string &name) {
  for (size_t i = 0; i < labels.elements(); ++i)
    if (int64_t label = labels.as<int64_t>()[i]; label >= classes)
      return usage("'" + printable(name) + "': label " + std::to_string(label) +
                   " at place " + std::to_string(i) + ", but there are " +
                   std::to_string(classes) + " classes, from 0 on");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Their order
//===----------------------------------------------------------------------===//

/// The samples of a batch over all ranks.
const int64_t *SampleOrder::find(int64_t number) const {
  const int64_t count = samples->size(), epoch = number / batches();
  if (epoch != orderedEpoch) {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    Random random(Random(seed).bits() + epoch);
    // Fisher-Yates shuffle.
    for (int64_t i = count - 1; i > 0; --i)
      std::swap(order[i], order[random.bits() % (i + 1)]);
    orderedEpoch = epoch;
  }
  return order.data() + number % batches() * part.batch;
}

std::string SampleOrder::findInfinite(int64_t number) const {
  const int64_t *first = find(number);
  for (int64_t i = 0; i < part.batch; ++i)
    for (size_t a = 0; a < samples->numArrays(); ++a) {
      const HostTensor &array = samples->array(a);
      size_t each = array.elements() / samples->size();
      if (findNotFinite(array, first[i] * each, each, /*isNaN=*/false) >= 0)
        return samples->describe(a) + " of sample " + std::to_string(first[i]);
    }
  return "";
}

int64_t SampleOrder::countLabels(int64_t number) const {
  const int64_t *first = find(number);
  const HostTensor &array = samples->array(*labels);
  const size_t each = array.elements() / samples->size();
  int64_t found = 0;
  for (int64_t i = 0; i < part.batch; ++i)
    found += countNotNegative(array.as<int64_t>() + first[i] * each, each);
  return found;
}

Status SampleOrder::fill(int64_t number, const std::vector<HostTensor> &batch) {
  const int64_t *first = find(number) + part.begin;
  for (size_t a = 0; a < samples->numArrays(); ++a) {
    const HostTensor &array = samples->array(a);
    size_t bytes = array.bytes / samples->size();
    for (int64_t i = 0; i < part.end - part.begin && bytes; ++i)
      std::memcpy(batch[a].data.get() + i * bytes,
                  array.data.get() + first[i] * bytes, bytes);
  }
  return Status::success();
}
