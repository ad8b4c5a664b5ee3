//===- ApiOptions.h - What callers of the C ABI may ask for -----*- C++ -*-===//

#ifndef MLC_RUNTIME_APIOPTIONS_H
#define MLC_RUNTIME_APIOPTIONS_H

#include "runtime/Status.h"
#include "runtime/mlc_runtime.h"

namespace mlc::runtime {

constexpr uint32_t openFlags =
    MLC_OPEN_SKIP_CHECKSUM | MLC_OPEN_COPY_WEIGHTS | MLC_OPEN_INSPECT;
constexpr uint32_t sessionFlags = MLC_SESSION_FLUSH_DENORMALS |
                                  MLC_SESSION_KEEP_BUFFERS |
                                  MLC_SESSION_PROFILE;

/// Whether `flags` is a sum of `known` ones.
Status checkFlags(uint32_t flags, uint32_t known);

/// The caller's options, whose struct may be of an older or a newer header.
/// Nothing given: the default ones.
Status readOptions(const mlc_session_options *given,
                   mlc_session_options &options);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_APIOPTIONS_H
