//===- ApiRanks.h - Sessions of the C ABI with other ranks ------*- C++ -*-===//

#ifndef MLC_RUNTIME_APIRANKS_H
#define MLC_RUNTIME_APIRANKS_H

#include "runtime/Ranks.h"
#include "runtime/mlc_runtime.h"

namespace mlc::runtime {

/// mlc_session_create for programs that link the runtime, as one of `ranks`,
/// which may be null. Sessions of other entries (mlc_session_entry) have the
/// same.
mlc_status createSession(mlc_artifact *artifact,
                         const mlc_session_options *options,
                         std::shared_ptr<Ranks> ranks, mlc_session **session);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_APIRANKS_H
