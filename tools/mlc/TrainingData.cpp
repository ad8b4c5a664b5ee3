//===- TrainingData.cpp - Samples, in an order that a seed gives ----------===//

#include "tools/mlc/TrainingData.h"
#include "runtime/Blake3.h"
#include "runtime/Npy.h"
#include "runtime/Text.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Random.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlc::cli;
namespace runtime = mlc::runtime;

static std::string typeText(const SamplePort &port) {
  return mlc_dtype_name(port.type) + ("[" + llvm::join(port.texts, ", ")) + "]";
}

/// Errors where an array is none of a port's samples.
static llvm::Error checkArray(const HostTensor &tensor, const std::string &path,
                              const SamplePort &port) {
  const std::string name = runtime::printable(port.name);
  bool fits = tensor.type == port.type && !port.dims.empty() &&
              tensor.dims.size() == port.dims.size();
  std::string open;
  for (size_t i = 1; fits && i < port.dims.size(); ++i) {
    fits = port.dims[i] < 0 || tensor.dims[i] == port.dims[i];
    if (port.dims[i] < 0)
      open = " --dim=" + port.texts[i] + "=" + std::to_string(tensor.dims[i]);
  }
  if (fits && !open.empty())
    return fail(Exit::Usage, path + ": the array '" + name +
                                 "' has one size, and the input leaves it "
                                 "open; give" +
                                 runtime::printable(open));
  if (fits)
    return llvm::Error::success();
  std::string have = mlc_dtype_name(tensor.type);
  have += "[";
  llvm::raw_string_ostream os(have);
  llvm::interleaveComma(tensor.dims, os);
  return fail(Exit::Usage, path + ": the array '" + name + "' is " + have +
                               "]; a batch takes " +
                               runtime::printable(typeText(port)) +
                               ", of which the first dim is the sample");
}

static llvm::Expected<HostTensor> readArray(const runtime::NpzFile &file,
                                            const std::string &path,
                                            const SamplePort &port) {
  auto array = std::make_shared<runtime::NpyArray>();
  if (auto status = file.read(port.name, *array); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  HostTensor tensor{static_cast<mlc_dtype>(array->type), array->dims, nullptr,
                    size_t(array->bytes)};
  tensor.data = std::shared_ptr<char>(
      array, reinterpret_cast<char *>(array->data.data()));
  if (llvm::Error error = checkArray(tensor, path, port))
    return error;
  return tensor;
}

/// The first element from `begin` on, of `count`, that is not finite, or that
/// is NaN; nothing where there is none.
static std::optional<size_t> findNotFinite(const HostTensor &tensor,
                                           size_t begin, size_t count,
                                           bool isNaN) {
  auto scan = [&](auto isWrong) -> std::optional<size_t> {
    for (size_t i = begin; i < begin + count; ++i)
      if (isWrong(i))
        return i;
    return std::nullopt;
  };
  // An exponent of ones; NaN has more.
  auto isSmall = [&](size_t i, unsigned exponent) {
    unsigned bits = reinterpret_cast<const uint16_t *>(tensor.data.get())[i];
    return (bits & exponent) == exponent &&
           (!isNaN || (bits & 0x7fff) != exponent);
  };
  auto isOdd = [&](double number) {
    return isNaN ? std::isnan(number) : !std::isfinite(number);
  };
  switch (tensor.type) {
  case MLC_F32:
    return scan([&](size_t i) {
      return isOdd(reinterpret_cast<const float *>(tensor.data.get())[i]);
    });
  case MLC_F64:
    return scan([&](size_t i) {
      return isOdd(reinterpret_cast<const double *>(tensor.data.get())[i]);
    });
  case MLC_F16:
    return scan([&](size_t i) { return isSmall(i, 0x7c00); });
  case MLC_BF16:
    return scan([&](size_t i) { return isSmall(i, 0x7f80); });
  default:
    return std::nullopt;
  }
}

static size_t elementsOf(const HostTensor &tensor) {
  return tensor.bytes / mlc_dtype_size(tensor.type);
}

static llvm::Error checkNumbers(const HostTensor &tensor,
                                const std::string &path,
                                const std::string &name, int64_t count) {
  auto found = findNotFinite(tensor, 0, elementsOf(tensor), /*isNaN=*/true);
  if (!found)
    return llvm::Error::success();
  return fail(Exit::Usage,
              path + ": the array '" + runtime::printable(name) +
                  "' has NaN in sample " +
                  llvm::Twine(*found / (elementsOf(tensor) / count)) +
                  "; leave such samples out, or put numbers "
                  "there");
}

llvm::Expected<TrainingData>
TrainingData::read(const std::string &path, llvm::ArrayRef<SamplePort> ports,
                   int64_t batch, bool takesNaN) {
  runtime::NpzFile file;
  if (auto status = file.open(path); !status.ok())
    return fail(static_cast<Exit>(status.code), status.message);
  std::vector<std::string> names = file.names();
  TrainingData data;
  runtime::Blake3 hash;
  for (const SamplePort &port : ports) {
    if (!llvm::is_contained(names, port.name)) {
      std::string have =
          llvm::join(llvm::ArrayRef(names).take_front(10), "', '");
      return fail(Exit::Usage,
                  path + ": has no array '" + runtime::printable(port.name) +
                      "' of samples; it has " +
                      (names.empty() ? std::string("none")
                                     : "'" + runtime::printable(have) + "'"));
    }
    auto array = readArray(file, path, port);
    if (!array)
      return array.takeError();
    hash.update(array->data.get(), array->bytes);
    if (data.arrays.empty())
      data.count = array->dims[0];
    if (array->dims[0] != data.count)
      return fail(Exit::Usage,
                  path + ": the array '" + runtime::printable(port.name) +
                      "' has " + llvm::Twine(array->dims[0]) +
                      " samples, and '" + runtime::printable(ports[0].name) +
                      "' " + llvm::Twine(data.count));
    data.names.push_back(port.name);
    data.arrays.push_back(std::move(*array));
  }
  if (data.count < batch)
    return fail(Exit::Usage, path + ": has " + llvm::Twine(data.count) +
                                 " samples, and a batch " + llvm::Twine(batch));
  for (auto [array, name] : llvm::zip(data.arrays, data.names))
    if (llvm::Error error = takesNaN
                                ? llvm::Error::success()
                                : checkNumbers(array, path, name, data.count))
      return error;
  data.part = {batch, 0, batch};
  data.digest = llvm::toHex(hash.finish(), /*LowerCase=*/true);
  return data;
}

TrainingData TrainingData::forPart(const SamplePart &own) const {
  TrainingData data = *this;
  data.part = own;
  return data;
}

std::string TrainingData::findInfinite(uint64_t seed, int64_t step) const {
  const int64_t *first = find(seed, step);
  for (int64_t sample : llvm::ArrayRef(first, part.batch))
    for (auto [array, name] : llvm::zip(arrays, names)) {
      size_t each = elementsOf(array) / count;
      if (findNotFinite(array, sample * each, each, /*isNaN=*/false))
        return "'" + runtime::printable(name) + "' of sample " +
               std::to_string(sample);
    }
  return "";
}

/// The samples of a step, of all ranks.
const int64_t *TrainingData::find(uint64_t seed, int64_t step) const {
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

int64_t TrainingData::countLabels(uint64_t seed, int64_t step, size_t i) const {
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
