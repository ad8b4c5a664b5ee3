//===- ApiOptions.h - What callers of the C ABI may ask for -----*- C++ -*-===//

#ifndef MLC_RUNTIME_APIOPTIONS_H
#define MLC_RUNTIME_APIOPTIONS_H

#include "runtime/Status.h"
#include "runtime/mlc_runtime.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime {

constexpr uint32_t openFlags =
    MLC_OPEN_SKIP_CHECKSUM | MLC_OPEN_COPY_WEIGHTS | MLC_OPEN_INSPECT;
constexpr uint32_t sessionFlags = MLC_SESSION_FLUSH_DENORMALS |
                                  MLC_SESSION_KEEP_BUFFERS |
                                  MLC_SESSION_PROFILE;

/// Whether `flags` is a sum of `known` ones.
Status checkFlags(uint32_t flags, uint32_t known);

/// Whether a struct of options of `size` bytes, whose first field says so, may
/// be read as the first `known` of them: it has `least`, and only zeros behind
/// what is known. `macro` is what initializes one.
Status checkOptions(const void *given, size_t size, size_t least, size_t known,
                    const char *macro);

/// The caller's options, whose struct may be of an older or a newer header,
/// over `options`, which have the default ones. Those of a header must have all
/// up to `least`.
template <typename T>
Status readOptions(const T *given, size_t least, const char *macro,
                   T &options) {
  if (!given)
    return Status::success();
  Status status =
      checkOptions(given, given->size, least, sizeof(options), macro);
  if (status.ok())
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  return status;
}

} // namespace mlc::runtime

#endif // MLC_RUNTIME_APIOPTIONS_H
