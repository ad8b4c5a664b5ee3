//===- TrainingData.cpp - Samples, in an order that a seed gives ----------===//

#include "tools/mlc/TrainingData.h"
#include "runtime/Blake3.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Random.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <numeric>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

static llvm::Expected<HostTensor> readArray(const runtime::NpzFile &file,
                                            const std::string &path,
                                            const mlc_port &port) {
  auto array = std::make_shared<runtime::NpyArray>();
  if (auto status = file.read(port.name, *array); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  bool fits = static_cast<mlc_dtype>(array->type) == port.type &&
              array->dims.size() == port.rank && port.rank > 0;
  for (size_t i = 1; fits && i < port.rank; ++i)
    fits = array->dims[i] == port.dims[i];
  HostTensor tensor{static_cast<mlc_dtype>(array->type), array->dims, nullptr,
                    size_t(array->bytes)};
  tensor.data = std::shared_ptr<char>(
      array, reinterpret_cast<char *>(array->data.data()));
  if (fits)
    return tensor;
  std::string have = mlc_dtype_name(tensor.type);
  have += "[";
  llvm::raw_string_ostream os(have);
  llvm::interleaveComma(tensor.dims, os);
  return fail(Exit::Usage, path + ": the array '" +
                               runtime::printable(port.name) + "' is " + have +
                               "]; a batch takes " + typeText(port) +
                               ", of which the first dim is the sample");
}

llvm::Expected<TrainingData> TrainingData::read(const std::string &path,
                                                llvm::ArrayRef<mlc_port> ports,
                                                const SamplePart &part) {
  runtime::NpzFile file;
  if (auto status = file.open(path); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  std::vector<std::string> names = file.names();
  TrainingData data;
  data.part = part;
  runtime::Blake3 hash;
  for (const mlc_port &port : ports) {
    if (!llvm::is_contained(names, port.name)) {
      std::string have =
          llvm::join(llvm::ArrayRef(names).take_front(10), "', '");
      return fail(Exit::Usage, path + ": has no array '" +
                                   runtime::printable(port.name) +
                                   "' of samples; it has '" +
                                   runtime::printable(have) + "'");
    }
    auto array = readArray(file, path, port);
    if (!array)
      return array.takeError();
    hash.update(array->data.get(), array->bytes);
    if (data.arrays.empty())
      data.count = array->dims[0];
    // Ports of parts that differ from rank to rank are open.
    bool isOther = port.dims[0] >= 0 && port.dims[0] != part.end - part.begin;
    if (array->dims[0] != data.count || isOther)
      return fail(Exit::Usage,
                  path + ": the arrays '" + runtime::printable(ports[0].name) +
                      "' and '" + runtime::printable(port.name) +
                      "' have different numbers of samples, or a batch has");
    data.arrays.push_back(std::move(*array));
  }
  if (part.batch < 1 || data.count < part.batch)
    return fail(Exit::Usage, path + ": has " + llvm::Twine(data.count) +
                                 " samples, and a batch " +
                                 llvm::Twine(part.batch));
  data.digest = llvm::toHex(hash.finish(), /*LowerCase=*/true);
  return data;
}

/// The samples of a step, of all ranks.
const int64_t *TrainingData::find(uint64_t seed, int64_t step) {
  int64_t steps = count / part.batch, epoch = step / steps;
  if (epoch != orderedEpoch) {
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    Random random(Random(seed).bits() + epoch);
    // Fisher and Yates.
    for (int64_t i = count - 1; i > 0; --i)
      std::swap(order[i], order[random.bits() % (i + 1)]);
    orderedEpoch = epoch;
  }
  return order.data() + step % steps * part.batch;
}

int64_t TrainingData::countLabels(uint64_t seed, int64_t step, size_t i) {
  const int64_t *first = find(seed, step);
  const size_t each = arrays[i].bytes / sizeof(int64_t) / count;
  const auto *labels = reinterpret_cast<const int64_t *>(arrays[i].data.get());
  int64_t found = 0;
  for (int64_t sample : llvm::ArrayRef(first, part.batch))
    found += llvm::count_if(llvm::ArrayRef(labels + sample * each, each),
                            [](int64_t label) { return label >= 0; });
  return found;
}

void TrainingData::fill(uint64_t seed, int64_t step,
                        llvm::ArrayRef<HostTensor> batch) {
  const int64_t *first = find(seed, step) + part.begin;
  for (auto [array, tensor] : llvm::zip(arrays, batch)) {
    size_t bytes = array.bytes / count;
    for (int64_t i = 0; i < part.end - part.begin && bytes; ++i)
      std::memcpy(tensor.data.get() + i * bytes,
                  array.data.get() + first[i] * bytes, bytes);
  }
}
