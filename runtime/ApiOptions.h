//===- ApiOptions.h - Options of the C ABI's callers ------------*- C++ -*-===//

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

/// An error if `flags` has bits that are not in `known`.
Status checkFlags(uint32_t flags, uint32_t known);

/// Checks a struct of options whose first field gives its `size`. It must have
/// at least `least` bytes, and only zeros after the first `known` ones. `macro`
/// is the name of its initializer, for messages.
Status checkOptions(const void *given, size_t size, size_t least, size_t known,
                    const char *macro);

/// Copies the caller's options, whose struct may be of an older or newer
/// header, over the defaults in `options`. Every header's struct has at least
/// `least` bytes.
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
