//===- HostTensor.cpp - A tensor in the host's memory ---------------------===//

#include "runtime/HostTensor.h"

#include <cstdlib>
#include <cstring>

namespace mlc::runtime {

Status HostTensor::zeros(mlc_dtype type, std::vector<int64_t> dims,
                         HostTensor &tensor) {
  size_t bytes = mlc_dtype_size(type);
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, size_t(dim), &bytes) ||
        bytes > size_t(1) << 46)
      return Status::error(MLC_USAGE,
                           "a tensor of these dims has too many elements; give "
                           "smaller dims");
  size_t rounded = (bytes + 64) / 64 * 64;
  char *data = static_cast<char *>(std::aligned_alloc(64, rounded));
  if (!data)
    return Status::error(MLC_RESOURCES, "out of memory for a tensor of " +
                                            std::to_string(bytes) +
                                            " bytes; give smaller dims");
  std::memset(data, 0, rounded);
  tensor = {type, std::move(dims), std::shared_ptr<char>(data, std::free),
            bytes};
  return Status::success();
}

HostTensor HostTensor::of(NpyArray array) {
  auto whole = std::make_shared<NpyArray>(std::move(array));
  return {static_cast<mlc_dtype>(whole->type), whole->dims,
          std::shared_ptr<char>(whole,
                                reinterpret_cast<char *>(whole->data.data())),
          size_t(whole->bytes)};
}

} // namespace mlc::runtime
