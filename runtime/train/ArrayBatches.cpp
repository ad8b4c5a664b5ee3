//===- ArrayBatches.cpp - Batches from the caller's arrays ----------------===//

#include "runtime/train/ArrayBatches.h"
#include "runtime/Text.h"

#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

HostTensor train::viewOf(const mlc_tensor &tensor) {
  auto *data = static_cast<char *>(const_cast<void *>(tensor.data));
  return {tensor.type,
          std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
          std::shared_ptr<char>(std::shared_ptr<char>(), data), tensor.bytes};
}

static std::string textOf(mlc_dtype type, size_t rank, const int64_t *dims) {
  std::string text = std::string(mlc_dtype_name(type)) + "[";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + (dims[i] < 0 ? "?" : std::to_string(dims[i]));
  return text + "]";
}

Status train::checkTensor(const mlc_tensor &tensor, const SamplePort &port,
                          int64_t samples) {
  std::vector<int64_t> wanted = port.dims;
  wanted[0] = samples;
  bool fits = tensor.type == port.type && tensor.rank == wanted.size();
  size_t bytes = mlc_dtype_size(tensor.type);
  for (size_t i = 0; fits && i < wanted.size(); ++i)
    fits = tensor.dims[i] >= 0 &&
           (wanted[i] < 0 || tensor.dims[i] == wanted[i]) &&
           !__builtin_mul_overflow(bytes, size_t(tensor.dims[i]), &bytes);
  if (!fits)
    return Status::error(MLC_USAGE,
                         "'" + printable(port.name) + "' is " +
                             textOf(tensor.type,
                                    std::min<size_t>(tensor.rank, MLC_MAX_RANK),
                                    tensor.dims) +
                             "; a batch takes " +
                             textOf(port.type, wanted.size(), wanted.data()) +
                             ", of which the first dim is the sample");
  if (tensor.bytes != bytes || (bytes && !tensor.data))
    return Status::error(MLC_USAGE, "'" + printable(port.name) +
                                        "' has no elements, or not those of "
                                        "its dims");
  return Status::success();
}

Status ArrayBatches::make(const Training &training, const mlc_tensor *tensors,
                          int64_t count, const SamplePart &part,
                          std::optional<ArrayBatches> &batches) {
  for (int64_t b = 0; b < count; ++b)
    for (size_t i = 0; i < training.samples.size(); ++i) {
      const mlc_tensor &tensor = tensors[b * training.samples.size() + i];
      const SamplePort &port = training.samples[i];
      Status status = checkTensor(tensor, port, part.batch);
      if (status.ok() && training.labels == i && training.classes)
        status = checkLabels(viewOf(tensor), training.classes, port.name);
      if (!status.ok())
        return status;
    }
  batches = ArrayBatches(training, tensors, count, part);
  return Status::success();
}

Status ArrayBatches::fill(int64_t number,
                          const std::vector<HostTensor> &batch) {
  const mlc_tensor *given = find(number);
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t bytes = given[i].bytes / part.batch;
    if (bytes)
      std::memcpy(batch[i].data.get(),
                  static_cast<const char *>(given[i].data) + part.begin * bytes,
                  (part.end - part.begin) * bytes);
  }
  return Status::success();
}

int64_t ArrayBatches::countLabels(int64_t number) const {
  const mlc_tensor &labels = find(number)[*training->labels];
  return countNotNegative(static_cast<const int64_t *>(labels.data),
                          labels.bytes / sizeof(int64_t));
}

std::string ArrayBatches::findInfinite(int64_t number) const {
  for (size_t i = 0; i < training->samples.size(); ++i) {
    HostTensor tensor = viewOf(find(number)[i]);
    const size_t each = tensor.elements() / part.batch;
    int64_t found =
        findNotFinite(tensor, 0, tensor.elements(), /*isNaN=*/false);
    if (found >= 0)
      return "'" + printable(training->samples[i].name) + "' of sample " +
             std::to_string(found / each) + " of the batch";
  }
  return "";
}
