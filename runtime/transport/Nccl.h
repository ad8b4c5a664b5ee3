//===- Nccl.h - The functions of NCCL ---------------------------*- C++ -*-===//
//
// The part of NCCL's interface (nccl.h of 2.8 and later) that the engine uses,
// declared here so that it builds without NCCL and CUDA. The functions are
// loaded from libnccl.so.2 at run time. test/transport/nccl compares these
// declarations with an nccl.h where one is installed.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_NCCL_H
#define MLC_RUNTIME_TRANSPORT_NCCL_H

#include "runtime/cuda/Driver.h"

#include <cstddef>
#include <string>
#include <type_traits>

namespace mlc::runtime::nccl {

// Types, values and names are NCCL's.
enum ncclResult_t : unsigned {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};

enum ncclRedOp_t : unsigned {
  ncclSum = 0,
  ncclProd = 1,
  ncclMax = 2,
  ncclMin = 3,
};

enum ncclDataType_t : unsigned {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9,
};

struct ncclUniqueId {
  char internal[128];
};

using ncclComm_t = struct ncclComm *;
using cudaStream_t = cuda::CUstream;

// X(result, name, parameters) for each function.
// clang-format off
#define MLC_NCCL_FUNCTIONS(X)                                                  \
  X(ncclResult_t, ncclGetVersion, (int *version))                              \
  X(ncclResult_t, ncclGetUniqueId, (ncclUniqueId *id))                         \
  X(ncclResult_t, ncclCommInitRank,                                            \
    (ncclComm_t *comm, int ranks, ncclUniqueId id, int rank))                  \
  X(ncclResult_t, ncclCommDestroy, (ncclComm_t comm))                          \
  X(ncclResult_t, ncclCommAbort, (ncclComm_t comm))                            \
  X(ncclResult_t, ncclCommGetAsyncError,                                       \
    (ncclComm_t comm, ncclResult_t *error))                                    \
  X(const char *, ncclGetErrorString, (ncclResult_t result))                   \
  X(ncclResult_t, ncclAllReduce,                                               \
    (const void *from, void *to, size_t count, ncclDataType_t type,            \
     ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream))             \
  X(ncclResult_t, ncclReduce,                                                  \
    (const void *from, void *to, size_t count, ncclDataType_t type,            \
     ncclRedOp_t reduction, int root, ncclComm_t comm, cudaStream_t stream))   \
  X(ncclResult_t, ncclReduceScatter,                                           \
    (const void *from, void *to, size_t count, ncclDataType_t type,            \
     ncclRedOp_t reduction, ncclComm_t comm, cudaStream_t stream))             \
  X(ncclResult_t, ncclAllGather,                                               \
    (const void *from, void *to, size_t count, ncclDataType_t type,            \
     ncclComm_t comm, cudaStream_t stream))                                    \
  X(ncclResult_t, ncclBroadcast,                                               \
    (const void *from, void *to, size_t count, ncclDataType_t type, int root,  \
     ncclComm_t comm, cudaStream_t stream))                                    \
  X(ncclResult_t, ncclSend,                                                    \
    (const void *from, size_t count, ncclDataType_t type, int peer,            \
     ncclComm_t comm, cudaStream_t stream))                                    \
  X(ncclResult_t, ncclRecv,                                                    \
    (void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,   \
     cudaStream_t stream))                                                     \
  X(ncclResult_t, ncclGroupStart, ())                                          \
  X(ncclResult_t, ncclGroupEnd, ())
// clang-format on

/// The functions of libnccl.so.2, which stays loaded.
struct Library {
#define MLC_NCCL_MEMBER(result, name, parameters)                              \
  std::add_pointer_t<result parameters> name = nullptr;
  MLC_NCCL_FUNCTIONS(MLC_NCCL_MEMBER)
#undef MLC_NCCL_MEMBER

  /// Returns the error with the remedy, or nothing.
  std::string load();
};

} // namespace mlc::runtime::nccl

#endif // MLC_RUNTIME_TRANSPORT_NCCL_H
