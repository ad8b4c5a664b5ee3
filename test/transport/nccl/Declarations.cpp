//===- Declarations.cpp - Our declarations of NCCL against nccl.h ---------===//
//
// Compiled where an nccl.h is installed; what differs does not compile.
//
//===----------------------------------------------------------------------===//

#include <nccl.h>

#include "runtime/transport/Nccl.h"

namespace own = mlc::runtime::nccl;

/// Ours as theirs: the types of functions are compared by these.
template <typename T> struct Theirs {
  using Type = T;
};
#define SAME(type)                                                             \
  static_assert(sizeof(own::type) == sizeof(::type) &&                         \
                alignof(own::type) == alignof(::type));                        \
  template <> struct Theirs<own::type> {                                       \
    using Type = ::type;                                                       \
  };
SAME(ncclResult_t)
SAME(ncclRedOp_t)
SAME(ncclDataType_t)
SAME(ncclUniqueId)
SAME(ncclComm_t)
SAME(cudaStream_t)
template <typename T> struct Theirs<T *> {
  using Type = typename Theirs<T>::Type *;
};
template <> struct Theirs<own::ncclComm_t *> {
  using Type = ::ncclComm_t *;
};
template <typename R, typename... Parameters>
struct Theirs<R (*)(Parameters...)> {
  using Type =
      typename Theirs<R>::Type (*)(typename Theirs<Parameters>::Type...);
};

#define FUNCTION(result, name, parameters)                                     \
  static_assert(std::is_same_v<Theirs<decltype(own::Library::name)>::Type,     \
                               decltype(&::name)>,                             \
                #name " has other parameters");
MLC_NCCL_FUNCTIONS(FUNCTION)

#define VALUE(name)                                                            \
  static_assert(static_cast<int>(own::name) == static_cast<int>(::name));
VALUE(ncclSuccess)
VALUE(ncclUnhandledCudaError)
VALUE(ncclSystemError)
VALUE(ncclInternalError)
VALUE(ncclInvalidArgument)
VALUE(ncclInvalidUsage)
VALUE(ncclSum)
VALUE(ncclProd)
VALUE(ncclMax)
VALUE(ncclMin)
VALUE(ncclInt8)
VALUE(ncclUint8)
VALUE(ncclInt32)
VALUE(ncclUint32)
VALUE(ncclInt64)
VALUE(ncclUint64)
VALUE(ncclFloat16)
VALUE(ncclFloat32)
VALUE(ncclFloat64)
VALUE(ncclBfloat16)
VALUE(ncclRemoteError)
VALUE(ncclInProgress)
