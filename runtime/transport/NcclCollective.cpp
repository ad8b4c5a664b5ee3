//===- NcclCollective.cpp - A collective as NCCL's calls ------------------===//

#include "runtime/transport/NcclEngine.h"

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

/// NCCL's reduce-scatter and all-gather need parts of equal size. Unequal parts
/// become a group of reductions to, or broadcasts from, each rank. An
/// all-to-all is a group of sends and receives, including those to itself.
struct Calls {
  mlc_comm *comm;
  const mlc_operation &operation;
  const char *from;
  char *to;
  const std::function<char *(size_t)> &aside;
  ncclDataType_t type;
  Batch &batch;

  size_t size() const { return operation.element_size; }
  template <typename Call> void call(Call one) {
    batch.calls.emplace_back(std::move(one));
  }
  void allReduce();
  void reduceScatter();
  void allGather();
  void broadcast(const char *given, char *at, size_t count, int root);
  void allToAll();
  void make();
};

void Calls::allReduce() {
  call([comm = comm, from = from, to = to, count = operation.elements,
        type = type, op = operatorOf(operation.reduction)] {
    return library().ncclAllReduce(from, to, count, type, op, comm->handle,
                                   comm->stream);
  });
}

void Calls::reduceScatter() {
  const std::vector<size_t> begins = beginsOf(operation.parts, comm->size);
  const ncclRedOp_t op = operatorOf(operation.reduction);
  batch.grouped = !areEqual(operation.parts, comm->size);
  if (!batch.grouped)
    return call([comm = comm, from = from, to = to, count = operation.parts[0],
                 type = type, op] {
      return library().ncclReduceScatter(from, to, count, type, op,
                                         comm->handle, comm->stream);
    });
  for (int part = 0; part < comm->size; ++part)
    if (operation.parts[part])
      // Only the part's own rank receives.
      call([comm = comm, at = from + begins[part] * size(), to = to,
            count = operation.parts[part], type = type, op, part] {
        return library().ncclReduce(at, to, count, type, op, part, comm->handle,
                                    comm->stream);
      });
}

void Calls::broadcast(const char *given, char *at, size_t count, int root) {
  call([comm = comm, type = type, given, at, count, root] {
    return library().ncclBroadcast(given, at, count, type, root, comm->handle,
                                   comm->stream);
  });
}

void Calls::allGather() {
  const std::vector<size_t> begins = beginsOf(operation.parts, comm->size);
  batch.grouped = !areEqual(operation.parts, comm->size);
  if (!batch.grouped)
    return call([comm = comm, from = from, to = to, count = operation.parts[0],
                 type = type] {
      return library().ncclAllGather(from, to, count, type, comm->handle,
                                     comm->stream);
    });
  for (int part = 0; part < comm->size; ++part)
    if (operation.parts[part]) {
      char *at = to + begins[part] * size();
      broadcast(part == comm->rank ? from : at, at, operation.parts[part],
                part);
    }
}

void Calls::allToAll() {
  const std::vector<size_t> sends = beginsOf(operation.parts, comm->size);
  const std::vector<size_t> receives = beginsOf(operation.receives, comm->size);
  const char *given = from;
  // In place: data must not be overwritten before it is sent.
  if (const size_t bytes = sends.back() * size(); from == to && bytes) {
    char *copy = aside(bytes);
    batch.before.push_back({Copy::OnDevice, copy, from, bytes});
    given = copy;
  }
  for (int other = 0; other < comm->size; ++other) {
    const size_t sent = operation.parts[other],
                 received = operation.receives[other];
    if (sent || other == comm->rank)
      call([comm = comm, at = given + sends[other] * size(), sent, type = type,
            other] {
        return library().ncclSend(at, sent, type, other, comm->handle,
                                  comm->stream);
      });
    if (received || other == comm->rank)
      call([comm = comm, at = to + receives[other] * size(), received,
            type = type, other] {
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
    return broadcast(from, to, operation.elements, operation.root);
  case MLC_ALL_TO_ALL:
    return allToAll();
  }
}

} // namespace

bool makeCalls(mlc_comm *comm, const mlc_operation &operation, const char *from,
               char *to, const std::function<char *(size_t)> &aside,
               Batch &batch) {
  ncclDataType_t type = ncclUint8;
  if (!typeOf(operation.type, type)) {
    if (transport::reduces(operation.kind))
      return false;
    // Types of one or two bytes are only moved.
    type = operation.element_size == 1 ? ncclUint8 : ncclFloat16;
  }
  batch.grouped = false;
  if (operation.elements)
    Calls{comm, operation, from, to, aside, type, batch}.make();
  return true;
}

} // namespace mlc::runtime::nccl
