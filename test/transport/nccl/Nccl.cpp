//===- Nccl.cpp - An NCCL for tests, on the host's memory -----------------===//
//
// Exports the functions of runtime/transport/Nccl.h as libnccl.so.2, so that
// the engine goes its whole way without a GPU: found by LD_LIBRARY_PATH, loaded
// at run time, among processes. Every collective is carried out by messages
// through Wires.h, sums in the order of the ranks, before the call or the
// group's end returns.
//
// Each rank writes its calls, a line each, to the file C.R in the folder
// $MLC_NCCL_RECORD, C the number of the communicator in its process, from 0, R
// the rank in the first of them; the first line has the communicator's size and
// the rank in it (test/transport/calls.py reads them).
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Nccl.h"
#include "runtime/transport/Reduce.h"
#include "test/transport/nccl/Wires.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <unistd.h>

using namespace mlc::runtime::nccl;
using mlc::runtime::transport::combine;
using mlc::test::nccl::Message;
using mlc::test::nccl::Wires;

struct mlc::runtime::nccl::ncclComm {
  std::unique_ptr<Wires> wires;
  int rank = 0, size = 0;
  int number = 0, processRank = 0; // among the process's communicators
};

namespace {

struct TypeRow {
  mlc_dtype type;
  size_t size;
  const char *name;
};
/// By ncclDataType_t.
const TypeRow types[] = {{MLC_I8, 1, "i8"},   {MLC_U8, 1, "u8"},
                         {MLC_I32, 4, "i32"}, {MLC_U32, 4, "u32"},
                         {MLC_I64, 8, "i64"}, {MLC_U64, 8, "u64"},
                         {MLC_F16, 2, "f16"}, {MLC_F32, 4, "f32"},
                         {MLC_F64, 8, "f64"}, {MLC_BF16, 2, "bf16"}};
const char *const reductions[] = {"sum", "prod", "max", "min"};
const mlc_reduction reductionOf[] = {MLC_SUM, MLC_PROD, MLC_MAX, MLC_MIN};

/// What a thread has begun and not carried out.
struct Group {
  int depth = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Message> messages;
  std::vector<std::function<void()>> after;
};
thread_local Group group;

/// The name of a call, and what it was given.
template <typename... Values>
void record(ncclComm_t comm, const char *name, Values... values) {
  const char *folder = std::getenv("MLC_NCCL_RECORD");
  if (!folder)
    return;
  std::ofstream file(std::string(folder) + "/" + std::to_string(comm->number) +
                         "." + std::to_string(comm->processRank),
                     std::ios::app);
  if (file.tellp() == 0)
    file << "communicator " << comm->size << ' ' << comm->rank << '\n';
  file << name;
  ((file << ' ' << values), ...);
  if (group.depth)
    file << " grouped";
  file << '\n';
}

/// What the stream holds comes before the call, as with NCCL; an emulated GPU's
/// memory is the host's too.
void finish(cudaStream_t stream) {
  void *driver =
      stream ? dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (!driver)
    return;
  auto wait = reinterpret_cast<int (*)(cudaStream_t)>(
      dlsym(driver, "cuStreamSynchronize"));
  wait(stream);
  dlclose(driver);
}

ncclResult_t carryOut() {
  Group now = std::move(group);
  group = {};
  if (!now.comm)
    return ncclSuccess;
  finish(now.stream);
  if (!now.comm->wires->pass(now.messages))
    return ncclRemoteError;
  for (auto &step : now.after)
    step();
  return ncclSuccess;
}

bool isWrong(ncclComm_t comm, ncclDataType_t type, int root) {
  return !comm || type > ncclBfloat16 || root < 0 || root >= comm->size ||
         (group.comm && group.comm != comm);
}

/// A call within a group waits for its end.
template <typename Add>
ncclResult_t call(ncclComm_t comm, cudaStream_t stream, Add add) {
  group.comm = comm;
  group.stream = stream;
  add();
  return group.depth ? ncclSuccess : carryOut();
}

using Memory = std::shared_ptr<std::vector<char>>;

void sendTo(int peer, const void *from, size_t bytes) {
  group.messages.push_back(
      {true, peer, static_cast<char *>(const_cast<void *>(from)), bytes, 0});
}
void receiveFrom(int peer, void *to, size_t bytes) {
  group.messages.push_back({false, peer, static_cast<char *>(to), bytes, 0});
}

/// The reduction of what all ranks have comes to `to`, after the messages; this
/// rank's is at `own`.
void reduceInto(ncclComm_t comm, const void *own, void *to, size_t count,
                ncclDataType_t type, ncclRedOp_t reduction) {
  const size_t bytes = count * types[type].size;
  std::vector<Memory> all;
  for (int rank = 0; rank < comm->size; ++rank) {
    all.push_back(std::make_shared<std::vector<char>>(bytes));
    if (rank != comm->rank)
      receiveFrom(rank, all[rank]->data(), bytes);
  }
  group.after.emplace_back([=] {
    std::memcpy(all[comm->rank]->data(), own, bytes);
    for (size_t rank = 1; rank < all.size(); ++rank)
      combine(reductionOf[reduction], types[type].type, all[0]->data(),
              all[rank]->data(), static_cast<int64_t>(count));
    std::memcpy(to, all[0]->data(), bytes);
  });
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
  *version = 22809;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  *id = {};
  snprintf(id->internal, sizeof(id->internal), "/mlc-test-nccl-%d-%u", getpid(),
           std::random_device()());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                              int rank) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return ncclInvalidArgument;
  static std::atomic<int> count{0};
  auto made = std::make_unique<ncclComm>();
  static int first = rank;
  made->number = count++;
  made->processRank = first;
  made->rank = rank;
  made->size = ranks;
  made->wires = Wires::open(id.internal, ranks, rank);
  if (!made->wires)
    return ncclSystemError;
  *comm = made.release();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}

/// Ends what is under way, here and on the other ranks.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->wires->abort();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  *error = comm->wires->isAborted() ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclRemoteError:
    return "remote process exited or there was a network error";
  case ncclInvalidArgument:
    return "invalid argument";
  default:
    return "unhandled system error";
  }
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclRedOp_t reduction,
                           ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, 0))
    return ncclInvalidArgument;
  record(comm, "ncclAllReduce", count, types[type].name, reductions[reduction]);
  return call(comm, stream, [&] {
    for (int rank = 0; rank < comm->size; ++rank)
      if (rank != comm->rank)
        sendTo(rank, from, count * types[type].size);
    reduceInto(comm, from, to, count, type, reduction);
  });
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count,
                        ncclDataType_t type, ncclRedOp_t reduction, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, root))
    return ncclInvalidArgument;
  record(comm, "ncclReduce", count, types[type].name, reductions[reduction],
         root);
  return call(comm, stream, [&] {
    if (root == comm->rank)
      reduceInto(comm, from, to, count, type, reduction);
    else
      sendTo(root, from, count * types[type].size);
  });
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count,
                               ncclDataType_t type, ncclRedOp_t reduction,
                               ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, 0))
    return ncclInvalidArgument;
  record(comm, "ncclReduceScatter", count, types[type].name,
         reductions[reduction]);
  return call(comm, stream, [&] {
    const size_t bytes = count * types[type].size;
    const char *parts = static_cast<const char *>(from);
    for (int rank = 0; rank < comm->size; ++rank)
      if (rank != comm->rank)
        sendTo(rank, parts + rank * bytes, bytes);
    reduceInto(comm, parts + comm->rank * bytes, to, count, type, reduction);
  });
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  if (isWrong(comm, type, 0))
    return ncclInvalidArgument;
  record(comm, "ncclAllGather", count, types[type].name);
  return call(comm, stream, [&] {
    const size_t bytes = count * types[type].size;
    char *parts = static_cast<char *>(to);
    for (int rank = 0; rank < comm->size; ++rank) {
      if (rank == comm->rank)
        group.after.emplace_back(
            [=] { std::memmove(parts + rank * bytes, from, bytes); });
      else {
        sendTo(rank, from, bytes);
        receiveFrom(rank, parts + rank * bytes, bytes);
      }
    }
  });
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  if (isWrong(comm, type, root))
    return ncclInvalidArgument;
  record(comm, "ncclBroadcast", count, types[type].name, root);
  return call(comm, stream, [&] {
    const size_t bytes = count * types[type].size;
    if (root != comm->rank)
      return receiveFrom(root, to, bytes);
    for (int rank = 0; rank < comm->size; ++rank)
      if (rank != root)
        sendTo(rank, from, bytes);
    group.after.emplace_back([=] { std::memmove(to, from, bytes); });
  });
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, peer))
    return ncclInvalidArgument;
  record(comm, "ncclSend", count, types[type].name, peer);
  return call(comm, stream,
              [&] { sendTo(peer, from, count * types[type].size); });
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, peer))
    return ncclInvalidArgument;
  record(comm, "ncclRecv", count, types[type].name, peer);
  return call(comm, stream,
              [&] { receiveFrom(peer, to, count * types[type].size); });
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (!group.depth)
    return ncclInvalidUsage;
  if (--group.depth)
    return ncclSuccess;
  if (group.comm)
    record(group.comm, "ncclGroupEnd");
  return carryOut();
}

} // extern "C"
