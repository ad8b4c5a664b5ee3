//===- NcclCollective.cpp - A collective as NCCL's calls ------------------===//

#include "runtime/transport/NcclEngine.h"

#include <cstring>

namespace mlc::runtime::nccl {

using transport::areEqual;
using transport::beginsOf;

namespace {

/// False for a type that NCCL does not have.
bool typeOf(mlc_dtype type, ncclDataType_t &result) {
  switch (type) {
  case MLC_F32:
    return result = ncclFloat32, true;
  case MLC_F16:
    return result = ncclFloat16, true;
  case MLC_BF16:
    return result = ncclBfloat16, true;
  case MLC_F64:
    return result = ncclFloat64, true;
  case MLC_I8:
    return result = ncclInt8, true;
  case MLC_I32:
    return result = ncclInt32, true;
  case MLC_I64:
    return result = ncclInt64, true;
  case MLC_U8:
    return result = ncclUint8, true;
  case MLC_U32:
    return result = ncclUint32, true;
  case MLC_U64:
    return result = ncclUint64, true;
  default:
    return false;
  }
}

ncclRedOp_t operatorOf(mlc_reduction reduction) {
  switch (reduction) {
  case MLC_MAX:
    return ncclMax;
  case MLC_MIN:
    return ncclMin;
  case MLC_PROD:
    return ncclProd;
  default:
    return ncclSum;
  }
}

/// NCCL's reduce-scatter and all-gather want parts
/// of one size; others are a group of a reduction to, or a broadcast from, each
/// rank. An all-to-all is a group of sends and receives, to itself too.
struct Calls {
  mlc_comm *comm;
  const mlc_operation &operation;
  char *data;
  ncclDataType_t type;
  Batch &batch;

  size_t size() const { return operation.element_size; }
  template <typename Call> void call(Call one) {
    batch.calls.emplace_back(std::move(one));
  }
  void allReduce();
  void reduceScatter();
  void allGather();
  void broadcast(char *at, size_t count, int root);
  void allToAll();
  void make();
};

void Calls::allReduce() {
  call([comm = comm, data = data, count = operation.elements, type = type,
        op = operatorOf(operation.reduction)] {
    return library().ncclAllReduce(data, data, count, type, op, comm->handle,
                                   comm->stream);
  });
}

void Calls::reduceScatter() {
  const std::vector<size_t> begins = beginsOf(operation.parts, comm->size);
  const ncclRedOp_t op = operatorOf(operation.reduction);
  batch.grouped = !areEqual(operation.parts, comm->size);
  if (!batch.grouped)
    return call([comm = comm, data = data,
                 to = data + begins[comm->rank] * size(),
                 count = operation.parts[0], type = type, op] {
      return library().ncclReduceScatter(data, to, count, type, op,
                                         comm->handle, comm->stream);
    });
  for (int part = 0; part < comm->size; ++part)
    if (operation.parts[part])
      call([comm = comm, at = data + begins[part] * size(),
            count = operation.parts[part], type = type, op, part] {
        return library().ncclReduce(at, at, count, type, op, part, comm->handle,
                                    comm->stream);
      });
}

void Calls::broadcast(char *at, size_t count, int root) {
  call([comm = comm, type = type, at, count, root] {
    return library().ncclBroadcast(at, at, count, type, root, comm->handle,
                                   comm->stream);
  });
}

void Calls::allGather() {
  const std::vector<size_t> begins = beginsOf(operation.parts, comm->size);
  batch.grouped = !areEqual(operation.parts, comm->size);
  if (!batch.grouped)
    return call([comm = comm, data = data,
                 from = data + begins[comm->rank] * size(),
                 count = operation.parts[0], type = type] {
      return library().ncclAllGather(from, data, count, type, comm->handle,
                                     comm->stream);
    });
  for (int part = 0; part < comm->size; ++part)
    if (operation.parts[part])
      broadcast(data + begins[part] * size(), operation.parts[part], part);
}

/// Memory where the data is, which ends with who holds it.
std::shared_ptr<char> aside(const mlc_comm &comm, size_t bytes) {
  if (comm.device < 0)
    return std::shared_ptr<char>(new char[bytes],
                                 std::default_delete<char[]>());
  cuda::CUdeviceptr memory = 0;
  driver().cuMemAlloc_v2(&memory, bytes);
  return std::shared_ptr<char>(
      reinterpret_cast<char *>(memory), // NOLINT(performance-no-int-to-ptr)
      [](char *at) {
        driver().cuMemFree_v2(reinterpret_cast<cuda::CUdeviceptr>(at));
      });
}

void Calls::allToAll() {
  const std::vector<size_t> from = beginsOf(operation.parts, comm->size);
  const std::vector<size_t> to = beginsOf(operation.receives, comm->size);
  const size_t bytes = from.back() * size();
  // Made on the calling thread, while the GPU's context may not be current.
  auto memory = std::make_shared<std::shared_ptr<char>>();
  batch.before = [comm = comm, data = data, bytes, memory] {
    *memory = aside(*comm, bytes + 1);
    if (comm->device < 0)
      std::memcpy(memory->get(), data, bytes);
    else
      driver().cuMemcpyDtoDAsync_v2(
          reinterpret_cast<cuda::CUdeviceptr>(memory->get()),
          reinterpret_cast<cuda::CUdeviceptr>(data), bytes, comm->stream);
  };
  batch.after = [memory] { memory->reset(); };
  for (int other = 0; other < comm->size; ++other) {
    const size_t sent = operation.parts[other],
                 received = operation.receives[other];
    if (sent || other == comm->rank)
      call([comm = comm, memory, at = from[other] * size(), sent, type = type,
            other] {
        return library().ncclSend(memory->get() + at, sent, type, other,
                                  comm->handle, comm->stream);
      });
    if (received || other == comm->rank)
      call([comm = comm, at = data + to[other] * size(), received, type = type,
            other] {
        return library().ncclRecv(at, received, type, other, comm->handle,
                                  comm->stream);
      });
  }
}

void Calls::make() {
  batch.grouped = operation.kind == MLC_ALL_TO_ALL;
  switch (operation.kind) {
  case MLC_ALL_REDUCE:
    return allReduce();
  case MLC_REDUCE_SCATTER:
    return reduceScatter();
  case MLC_ALL_GATHER:
    return allGather();
  case MLC_BROADCAST:
    return broadcast(data, operation.elements, operation.root);
  case MLC_ALL_TO_ALL:
    return allToAll();
  }
}

} // namespace

bool makeCalls(mlc_comm *comm, const mlc_operation &operation, char *data,
               Batch &batch) {
  ncclDataType_t type = ncclUint8;
  if (!typeOf(operation.type, type)) {
    if (transport::reduces(operation.kind))
      return false;
    // Of one or two bytes, which are moved alone.
    type = operation.element_size == 1 ? ncclUint8 : ncclFloat16;
  }
  batch.grouped = false;
  if (operation.elements)
    Calls{comm, operation, data, type, batch}.make();
  return true;
}

} // namespace mlc::runtime::nccl
