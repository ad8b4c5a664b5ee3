//===- GlooCollective.cpp - Gloo's own collectives ------------------------===//
//
// Gloo's functions are synchronous, so each collective has a thread. Gloo has
// no reduce-scatter with tags, so each part is reduced to its rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Gloo.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoallv.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>

#include <cstring>

namespace mlc::runtime::transport {

namespace {

using Function = void (*)(void *, const void *, const void *, size_t);

/// A collective under way. The caller's arrays are copied.
struct Work {
  mlc_comm *comm;
  mlc_request *request;
  mlc_operation operation;
  std::vector<size_t> parts, receives;
  char *data;
  uint32_t tag;
  Function function; // for reductions

  size_t size() const { return operation.element_size; }
  int ranks() const { return comm->size; }
  template <typename Options> void prepare(Options &options) const {
    options.setTag(tag);
    options.setTimeout(forever);
  }
  void carryOut();
  void allReduce();
  void reduceScatter();
  void allGather();
  void broadcast();
  void allToAll();
};

template <typename T> Function functionOf(mlc_reduction reduction) {
  switch (reduction) {
  case MLC_SUM:
    return &gloo::sum<T>;
  case MLC_MAX:
    return &gloo::max<T>;
  case MLC_MIN:
    return &gloo::min<T>;
  case MLC_PROD:
    return &gloo::product<T>;
  }
  return nullptr;
}

Function functionOf(mlc_dtype type, mlc_reduction reduction) {
  switch (type) {
  case MLC_F32:
    return functionOf<float>(reduction);
  case MLC_F64:
    return functionOf<double>(reduction);
  case MLC_I8:
    return functionOf<int8_t>(reduction);
  case MLC_I16:
    return functionOf<int16_t>(reduction);
  case MLC_I32:
    return functionOf<int32_t>(reduction);
  case MLC_I64:
    return functionOf<int64_t>(reduction);
  case MLC_U8:
    return functionOf<uint8_t>(reduction);
  case MLC_U16:
    return functionOf<uint16_t>(reduction);
  case MLC_U32:
    return functionOf<uint32_t>(reduction);
  case MLC_U64:
    return functionOf<uint64_t>(reduction);
  default:
    return nullptr;
  }
}

/// Gloo takes the size of an element from its type; `use` gets a null pointer.
template <typename Use> void withElement(size_t size, Use use) {
  switch (size) {
  case 1:
    return use(static_cast<uint8_t *>(nullptr));
  case 2:
    return use(static_cast<uint16_t *>(nullptr));
  case 4:
    return use(static_cast<uint32_t *>(nullptr));
  default:
    return use(static_cast<uint64_t *>(nullptr));
  }
}

template <typename T> T *as(char *data, T *) {
  return reinterpret_cast<T *>(data);
}

} // namespace

void Work::allReduce() {
  withElement(size(), [&](auto *element) {
    gloo::AllreduceOptions options(comm->context);
    prepare(options);
    options.setOutput(as(data, element), operation.elements);
    options.setReduceFunction(function);
    gloo::allreduce(options);
  });
}

/// Parts of other ranks are only read; their reductions go to temporaries.
void Work::reduceScatter() {
  const std::vector<size_t> begins = beginsOf(parts.data(), ranks());
  for (int part = 0; part < ranks(); ++part) {
    if (!parts[part])
      continue;
    char *at = data + begins[part] * size();
    std::vector<char> aside(parts[part] * size());
    withElement(size(), [&](auto *element) {
      gloo::ReduceOptions options(comm->context);
      prepare(options);
      options.setInput(as(at, element), parts[part]);
      options.setOutput(as(aside.data(), element), parts[part]);
      options.setRoot(part);
      options.setReduceFunction(function);
      gloo::reduce(options);
    });
    if (part == comm->rank)
      std::memcpy(at, aside.data(), aside.size());
  }
}

void Work::allGather() {
  withElement(size(), [&](auto *element) {
    gloo::AllgathervOptions options(comm->context);
    prepare(options);
    options.setOutput(as(data, element), parts);
    gloo::allgatherv(options);
  });
}

void Work::broadcast() {
  withElement(size(), [&](auto *element) {
    gloo::BroadcastOptions options(comm->context);
    prepare(options);
    options.setOutput(as(data, element), operation.elements);
    options.setRoot(operation.root);
    gloo::broadcast(options);
  });
}

void Work::allToAll() {
  std::vector<char> sent(data, data + beginsOf(parts.data(), ranks()).back() *
                                          size());
  withElement(size(), [&](auto *element) {
    gloo::AlltoallvOptions options(comm->context);
    prepare(options);
    options.setInput(as(sent.data(), element),
                     std::vector<int64_t>(parts.begin(), parts.end()));
    options.setOutput(as(data, element),
                      std::vector<int64_t>(receives.begin(), receives.end()));
    gloo::alltoallv(options);
  });
}

void Work::carryOut() {
  std::string failure;
  try {
    switch (operation.kind) {
    case MLC_ALL_REDUCE:
      allReduce();
      break;
    case MLC_REDUCE_SCATTER:
      reduceScatter();
      break;
    case MLC_ALL_GATHER:
      allGather();
      break;
    case MLC_BROADCAST:
      broadcast();
      break;
    case MLC_ALL_TO_ALL:
      allToAll();
      break;
    }
  } catch (const std::exception &exception) {
    failure = exception.what();
  }
  std::lock_guard<std::mutex> lock(comm->mutex);
  request->failure = failure;
  request->done = true;
  comm->changed.notify_all();
}

/// The same on ranks with the same operation; messages of different operations
/// do not match (see Gloo.cpp).
static uint32_t tagOf(uint32_t number, const mlc_operation &operation) {
  uint64_t hash = operation.elements * 0x9e3779b97f4a7c15u;
  hash ^= (static_cast<uint64_t>(operation.kind) << 8 | operation.type) *
          0xc2b2ae3d27d4eb4fu;
  return number << 16 | static_cast<uint16_t>(hash >> 40);
}

mlc_status glooCollective(mlc_comm *comm, const mlc_operation *operation,
                          void *data, mlc_request **request) {
  Function function = functionOf(operation->type, operation->reduction);
  if (!function && reduces(operation->kind))
    return comm->failed(MLC_UNSUPPORTED,
                        "Gloo has no sum of this type here; take another "
                        "algorithm than own");
  try {
    auto result = std::make_unique<mlc_request>();
    Work work{comm,
              result.get(),
              *operation,
              {},
              {},
              static_cast<char *>(data),
              tagOf(comm->collectives++, *operation),
              function};
    if (operation->parts)
      work.parts.assign(operation->parts, operation->parts + comm->size);
    if (operation->receives)
      work.receives.assign(operation->receives,
                           operation->receives + comm->size);
    result->done = operation->elements == 0;
    if (operation->elements)
      result->own =
          std::thread([work = std::move(work)]() mutable { work.carryOut(); });
    *request = result.release();
  } catch (const std::exception &exception) {
    return comm->failed(MLC_DEVICE, exception.what());
  }
  return MLC_OK;
}

} // namespace mlc::runtime::transport
