//===- Nccl.cpp - An NCCL for tests, on the host's memory -----------------===//
//
// Exports the functions of runtime/transport/Nccl.h as libnccl.so.2, so that
// the engine goes its whole way without a GPU: found by LD_LIBRARY_PATH, loaded
// at run time, among processes. Every collective is carried out by messages
// through Wires.h, sums in the order of the ranks. Without a stream that is
// before the call or the group's end returns. With one, which is the
// emulator's, it is a part of the stream's work, as with NVIDIA's library, and
// as badly timed as it can be: what is read is read at its begin,
// $MLC_NCCL_DELAY microseconds go by, and what is written is written at its
// end. The emulator checks the addresses.
//
// Each rank writes its calls, a line each, to the file C.R in the folder
// $MLC_NCCL_RECORD, C the number of the communicator in its process, from 0, R
// the rank in the first of them; the first line has the communicator's size and
// the rank in it (test/transport/calls.py reads them). Addresses follow as
// stream=, from= and to=, and turn= is how many calls the process had made of
// all communicators.
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

/// Bytes of the caller's that a collective reads or writes.
struct Access {
  const void *memory;
  size_t bytes;
  bool writes;
};

/// What a thread has begun and not carried out.
struct Group {
  int depth = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Message> messages;
  std::vector<Access> accesses;
  /// Before the messages pass, and after.
  std::vector<std::function<void()>> before, after;
};
thread_local Group group;

/// For the record.
struct Addresses {
  const void *stream, *from, *to;
};

/// How many calls have been recorded.
std::atomic<int> turn{0};

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
  auto write = [&](const auto &value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Addresses>)
      file << " stream=" << value.stream << " from=" << value.from
           << " to=" << value.to;
    else
      file << ' ' << value;
  };
  (write(values), ...);
  file << " turn=" << turn++;
  if (group.depth)
    file << " grouped";
  file << '\n';
}

/// A function of the emulator, which is the driver of who gives streams.
template <typename Function> Function *emulated(const char *name) {
  static void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver ? reinterpret_cast<Function *>(dlsym(driver, name)) : nullptr;
}

bool checkAccesses(const Group &now, bool writes) {
  static auto *const check =
      emulated<int(unsigned long long, size_t, int)>("mlcEmulatorAccess");
  for (const Access &access : now.accesses)
    if (access.writes == writes &&
        check(reinterpret_cast<uintptr_t>(access.memory), access.bytes,
              writes)) {
      fprintf(stderr, "test NCCL: a collective %s what it must not\n",
              writes ? "writes" : "reads");
      return false;
    }
  return true;
}

/// Tells of failures by the communicator, as NCCL does of what is asynchronous.
void carryOut(Group &now) {
  if (now.stream && !checkAccesses(now, /*writes=*/false))
    now.comm->wires->abort();
  // What is sent is what is there now.
  std::vector<std::unique_ptr<char[]>> sent;
  for (Message &message : now.messages)
    if (message.isSend && now.stream) {
      sent.emplace_back(new char[message.bytes + 1]);
      std::memcpy(sent.back().get(), message.data, message.bytes);
      message.data = sent.back().get();
    }
  for (auto &step : now.before)
    step();
  if (const char *delay = now.stream ? getenv("MLC_NCCL_DELAY") : nullptr)
    usleep(static_cast<unsigned>(strtoul(delay, nullptr, 10)));
  if (now.comm->wires->pass(now.messages))
    for (auto &step : now.after)
      step();
  if (now.stream && !checkAccesses(now, /*writes=*/true))
    now.comm->wires->abort();
}

ncclResult_t carryOut() {
  Group now = std::move(group);
  group = {};
  if (!now.comm)
    return ncclSuccess;
  if (!now.stream) {
    carryOut(now);
    return now.comm->wires->isAborted() ? ncclRemoteError : ncclSuccess;
  }
  static auto *const launch =
      emulated<int(cudaStream_t, void (*)(void *), void *)>("cuLaunchHostFunc");
  if (!launch)
    return ncclUnhandledCudaError;
  cudaStream_t const stream = now.stream;
  auto *work = new Group(std::move(now));
  auto run = [](void *data) {
    const std::unique_ptr<Group> begun(static_cast<Group *>(data));
    carryOut(*begun);
  };
  return launch(stream, run, work) ? ncclUnhandledCudaError : ncclSuccess;
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
  group.accesses.push_back({from, bytes, false});
  group.messages.push_back(
      {true, peer, static_cast<char *>(const_cast<void *>(from)), bytes, 0});
}
/// Into the caller's memory, unless it is the library's.
void receiveFrom(int peer, void *to, size_t bytes, bool isOwn = false) {
  if (!isOwn)
    group.accesses.push_back({to, bytes, true});
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
      receiveFrom(rank, all[rank]->data(), bytes, /*isOwn=*/true);
  }
  group.accesses.push_back({own, bytes, false});
  group.accesses.push_back({to, bytes, true});
  group.before.emplace_back(
      [=] { std::memcpy(all[comm->rank]->data(), own, bytes); });
  group.after.emplace_back([=] {
    for (size_t rank = 1; rank < all.size(); ++rank)
      combine(reductionOf[reduction], types[type].type, all[0]->data(),
              all[rank]->data(), static_cast<int64_t>(count));
    std::memcpy(to, all[0]->data(), bytes);
  });
}

/// This rank's own bytes, to elsewhere.
void move(void *to, const void *from, size_t bytes) {
  if (to == from)
    return;
  auto copy = std::make_shared<std::vector<char>>(bytes);
  group.accesses.push_back({from, bytes, false});
  group.accesses.push_back({to, bytes, true});
  group.before.emplace_back([=] { std::memcpy(copy->data(), from, bytes); });
  group.after.emplace_back([=] { std::memcpy(to, copy->data(), bytes); });
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

/// Ends what is under way, here and on the other ranks. With $MLC_NCCL_STUCK it
/// does not return, as it may happen.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  while (getenv("MLC_NCCL_STUCK"))
    sleep(1);
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
  record(comm, "ncclAllReduce", count, types[type].name, reductions[reduction],
         Addresses{stream, from, to});
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
         root, Addresses{stream, from, to});
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
         reductions[reduction], Addresses{stream, from, to});
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
  record(comm, "ncclAllGather", count, types[type].name,
         Addresses{stream, from, to});
  return call(comm, stream, [&] {
    const size_t bytes = count * types[type].size;
    char *parts = static_cast<char *>(to);
    for (int rank = 0; rank < comm->size; ++rank) {
      if (rank == comm->rank) {
        move(parts + rank * bytes, from, bytes);
      } else {
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
  record(comm, "ncclBroadcast", count, types[type].name, root,
         Addresses{stream, from, to});
  return call(comm, stream, [&] {
    const size_t bytes = count * types[type].size;
    if (root != comm->rank)
      return receiveFrom(root, to, bytes);
    for (int rank = 0; rank < comm->size; ++rank)
      if (rank != root)
        sendTo(rank, from, bytes);
    move(to, from, bytes);
  });
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, peer))
    return ncclInvalidArgument;
  record(comm, "ncclSend", count, types[type].name, peer,
         Addresses{stream, from, nullptr});
  return call(comm, stream,
              [&] { sendTo(peer, from, count * types[type].size); });
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  if (isWrong(comm, type, peer))
    return ncclInvalidArgument;
  record(comm, "ncclRecv", count, types[type].name, peer,
         Addresses{stream, nullptr, to});
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
