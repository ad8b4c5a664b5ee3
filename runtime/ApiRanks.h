//===- ApiRanks.h - Ranks for the C ABI -------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_APIRANKS_H
#define MLC_RUNTIME_APIRANKS_H

#include "runtime/Ranks.h"
#include "runtime/mlc_runtime.h"

namespace mlc::runtime {

/// Makes the C ABI's handle of ranks that a program opened itself;
/// mlc_ranks_close frees it. `ranks` must not be null.
mlc_ranks *makeHandle(std::shared_ptr<Ranks> ranks);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_APIRANKS_H
