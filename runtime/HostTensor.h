//===- HostTensor.h - A tensor in the host's memory -------------*- C++ -*-===//

#ifndef MLC_RUNTIME_HOSTTENSOR_H
#define MLC_RUNTIME_HOSTTENSOR_H

#include "runtime/Npy.h"

#include <memory>
#include <vector>

namespace mlc::runtime {

/// An owned dense row-major tensor, aligned so that sessions need not copy it.
/// Copies share the elements.
struct HostTensor {
  mlc_dtype type = MLC_F32;
  std::vector<int64_t> dims;
  std::shared_ptr<char> data;
  size_t bytes = 0;

  /// A tensor of zeros. Fails if its size overflows or memory is short.
  static Status zeros(mlc_dtype type, std::vector<int64_t> dims,
                      HostTensor &tensor);
  /// Takes over the array's elements.
  static HostTensor of(NpyArray array);

  size_t elements() const { return bytes / mlc_dtype_size(type); }
  template <typename T> T *as() const {
    return reinterpret_cast<T *>(data.get());
  }
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_HOSTTENSOR_H
