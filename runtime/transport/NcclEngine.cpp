//===- NcclEngine.cpp - The engine NCCL, a plugin -------------------------===//
//
// NCCL and CUDA are loaded at run time, so that this is always built. Ranks
// find each other as those of Gloo do, and get NCCL's id there.
//
// With a GPU (mlc_world::device) there is a stream of its own on the primary
// context; what is exchanged is in the GPU's memory, or in the host's and
// copied. With -1 CUDA is not touched and the stream is null: NVIDIA's library
// wants a GPU, the test's does not.
//
// A group of calls is one step: transfers that are begun before the next test
// (mlc_engine.h, stepwise).
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/NcclEngine.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using namespace mlc::runtime::nccl;
using Clock = std::chrono::steady_clock;

namespace {

/// Loaded once in a process.
struct Libraries {
  nccl::Library nccl;
  cuda::Driver cuda;
  std::string ncclError, cudaError;
  bool triedCuda = false;

  Libraries() : ncclError(nccl.load()) {}
  std::string openCuda() {
    const char *remedy = "NCCL needs a GPU and its driver; take gloo or mpi";
    if (!triedCuda) {
      Status status = cuda.load("libcuda.so.1", remedy);
      if (status.ok())
        status = cuda.initialize(remedy);
      cudaError = status.message;
    }
    triedCuda = true;
    return cudaError;
  }
};

Libraries &libraries() {
  static Libraries all;
  return all;
}

} // namespace

const nccl::Library &mlc::runtime::nccl::library() { return libraries().nccl; }
const cuda::Driver &mlc::runtime::nccl::driver() { return libraries().cuda; }

std::string mlc::runtime::nccl::describe(ncclResult_t result,
                                         const char *what) {
  return std::string(what) + ": " + library().ncclGetErrorString(result);
}

namespace {

void flush(mlc_comm *comm) {
  if (comm->pending.requests.empty())
    return;
  enqueue(*comm, std::move(comm->pending));
  comm->pending = {};
}

/// Refuses ranks that share a GPU, since they may deadlock.
std::string refuseSharedGpu(mlc_comm &comm, cuda::CUdevice gpu,
                            Clock::time_point deadline) {
  char bus[32] = "";
  if (Status status = driver().check(
          driver().cuDeviceGetPCIBusId(bus, sizeof(bus) - 1, gpu),
          "the GPU has no place");
      !status.ok())
    return status.message;
  std::string machine;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> machine;
  std::vector<std::string> all;
  std::string error = comm.rendezvous->exchange(
      comm.prefix + "/gpu", comm.ranks, machine + "/" + bus, all, deadline);
  for (int a = 0; error.empty() && a < comm.size; ++a)
    for (int b = a + 1; error.empty() && b < comm.size; ++b)
      if (all[a] == all[b])
        error = "ranks " + std::to_string(a) + " and " + std::to_string(b) +
                " have the same GPU (" + bus +
                "); give device cuda, with which each takes the one of its "
                "LOCAL_RANK, or cuda:N with an N for each";
  return error;
}

/// The GPU's context, and a stream.
std::string openGpu(mlc_comm &comm, Clock::time_point deadline) {
  const cuda::Driver &cuda = driver();
  cuda::CUdevice gpu = 0;
  Status status = cuda.check(cuda.cuDeviceGet(&gpu, comm.device),
                             "the GPU cannot be opened");
  if (status.ok())
    status = cuda.check(cuda.cuDevicePrimaryCtxRetain(&comm.context, gpu),
                        "the GPU cannot be used");
  if (status.ok())
    status = cuda.check(cuda.cuCtxSetCurrent(comm.context),
                        "the GPU cannot be used");
  if (status.ok())
    status = cuda.check(
        cuda.cuStreamCreate(&comm.stream, cuda::CU_STREAM_NON_BLOCKING),
        "no stream on the GPU");
  if (!status.ok())
    return status.message;
  // Groups have the GPUs of all.
  return comm.prefix == "all" ? refuseSharedGpu(comm, gpu, deadline) : "";
}

/// NCCL's communicator for the ranks that have met, and the thread.
std::string connect(mlc_comm &comm, int device, Clock::time_point deadline) {
  comm.device = device;
  if (device >= 0)
    if (std::string error = openGpu(comm, deadline); !error.empty())
      return error;
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  std::string text;
  if (comm.rank == 0) {
    result = library().ncclGetUniqueId(&id);
    text.assign(id.internal, sizeof(id.internal));
    comm.rendezvous->notes().set(comm.prefix + "/nccl",
                                 result == ncclSuccess ? text : "");
  }
  if (result != ncclSuccess)
    return describe(result, "ncclGetUniqueId");
  const std::string first = "rank " + std::to_string(comm.ranks[0]);
  if (std::string error =
          comm.rendezvous->wait(comm.prefix + "/nccl", text, first, deadline);
      !error.empty())
    return error;
  if (text.size() != sizeof(id.internal))
    return first + " has no id of NCCL";
  std::memcpy(id.internal, text.data(), sizeof(id.internal));
  result = library().ncclCommInitRank(&comm.handle, comm.size, id, comm.rank);
  if (result != ncclSuccess)
    return describe(result, "ncclCommInitRank") +
           "; see what NCCL_DEBUG=WARN says" +
           (device < 0 ? ", or give device cuda, as NCCL wants a GPU" : "");
  startThreads(comm);
  return "";
}

void close(mlc_comm *comm) {
  endThreads(*comm);
  if (comm->handle && !comm->cancelled)
    library().ncclCommDestroy(comm->handle);
  if (comm->context)
    (void)driver().cuCtxSetCurrent(comm->context);
  for (const Block &block : comm->blocks)
    (void)driver().cuMemFree_v2(reinterpret_cast<uintptr_t>(block.memory));
  if (comm->stream)
    (void)driver().cuStreamDestroy_v2(comm->stream);
  delete comm;
}

mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                size_t size) {
  auto refuse = [&](mlc_status code, const std::string &what) {
    snprintf(text, size, "%s", what.c_str());
    return code;
  };
  if (world->rank < 0 || world->size < 1)
    return refuse(MLC_USAGE,
                  "RANK and WORLD_SIZE are not set; start ranks by mlc launch");
  if (!libraries().ncclError.empty())
    return refuse(MLC_DEVICE, libraries().ncclError);
  if (world->device >= 0)
    if (std::string error = libraries().openCuda(); !error.empty())
      return refuse(MLC_DEVICE, error);
  auto *result = new mlc_comm;
  const Clock::time_point deadline =
      Clock::now() + std::chrono::nanoseconds(world->timeout);
  std::string error = result->join(*world, deadline);
  mlc_status code = error.empty() ? MLC_DEVICE : MLC_RESOURCES;
  if (error.empty())
    error = connect(*result, world->device, deadline);
  if (error.empty()) {
    *comm = result;
    return MLC_OK;
  }
  result->leave();
  close(result);
  return refuse(code, error);
}

mlc_status split(mlc_comm *comm, int color, int64_t timeout, int *members,
                 mlc_comm **group) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::nanoseconds(timeout);
  auto *result = new mlc_comm;
  std::string error = comm->MetEnd::split(color, deadline, members, *result);
  if (error.empty() && result->size)
    error = connect(*result, comm->device, deadline);
  *group = error.empty() && result->size ? result : nullptr;
  if (!*group)
    close(result);
  return error.empty() ? MLC_OK : comm->failed(MLC_RESOURCES, error);
}

/// NCCL's kernels end at this, whatever they wait for. It may wait for the GPU
/// itself, where other communicators wait too, so that nobody waits for it.
void cancel(mlc_comm *comm) {
  if (comm->cancelled.exchange(true))
    return;
  std::thread([handle = comm->handle, device = comm->device,
               context = comm->context] {
    if (device >= 0)
      (void)driver().cuCtxSetCurrent(context);
    library().ncclCommAbort(handle);
  }).detach();
}

/// Connections end with the process; the launcher ends the other ranks.
void abort(mlc_comm *comm, int code) {
  if (!comm->cancelled)
    library().ncclCommAbort(comm->handle);
  _exit(code);
}

/// Memory on the GPU, for the request; null where there is none.
char *take(mlc_comm *comm, mlc_request *request, size_t bytes) {
  for (Block &block : comm->blocks)
    if (!block.isTaken && block.bytes >= bytes && block.bytes / 4 <= bytes) {
      block.isTaken = true;
      request->blocks.push_back(&block);
      return block.memory;
    }
  cuda::CUdeviceptr memory = 0;
  const size_t size = std::max<size_t>(bytes, 256);
  if (driver().cuCtxSetCurrent(comm->context) ||
      driver().cuMemAlloc_v2(&memory, size))
    return nullptr;
  comm->blocks.push_back(
      {reinterpret_cast<char *>(memory), // NOLINT(performance-no-int-to-ptr)
       size, true});
  request->blocks.push_back(&comm->blocks.back());
  return comm->blocks.back().memory;
}

mlc_status lacksMemory(mlc_comm *comm, size_t bytes) {
  return comm->failed(MLC_RESOURCES,
                      "no memory on the GPU for " + std::to_string(bytes) +
                          " bytes that are exchanged; end what else uses it");
}

mlc_request *begin(Batch &batch) {
  batch.requests.push_back(new mlc_request);
  return batch.requests.back();
}

/// The host's memory, to or from another rank.
mlc_status transfer(mlc_comm *comm, bool isSend, int peer, void *data,
                    size_t bytes, mlc_request **request) {
  Batch &batch = comm->pending;
  *request = begin(batch);
  void *there = data;
  if (comm->device >= 0 && bytes) {
    there = take(comm, *request, bytes);
    if (!there)
      return lacksMemory(comm, bytes);
    if (isSend)
      batch.before.push_back({Copy::ToDevice, there, data, bytes});
    else
      batch.after.push_back({Copy::ToHost, data, there, bytes});
  }
  batch.calls.emplace_back([=] {
    return isSend ? library().ncclSend(there, bytes, ncclUint8, peer,
                                       comm->handle, comm->stream)
                  : library().ncclRecv(there, bytes, ncclUint8, peer,
                                       comm->handle, comm->stream);
  });
  comm->count(isSend, bytes);
  return MLC_OK;
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  return transfer(comm, true, peer, const_cast<void *>(data), bytes, request);
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  return transfer(comm, false, peer, data, bytes, request);
}

/// Where in memory that holds all elements a rank gives or gets its part.
size_t ownPart(const mlc_comm *comm, const mlc_operation &operation,
               mlc_collective kind) {
  return operation.kind == kind
             ? beginsOf(operation.parts, comm->size)[comm->rank] *
                   operation.element_size
             : 0;
}

mlc_status collective(mlc_comm *comm, const mlc_operation *operation,
                      void *data, mlc_request **request) {
  flush(comm);
  Batch batch;
  auto made = std::make_unique<mlc_request>();
  batch.requests.push_back(made.get());
  bool lacks = false;
  const size_t bytes = operation->elements * operation->element_size;
  std::vector<std::unique_ptr<char[]>> host;
  auto aside = [&](size_t size) {
    char *memory = comm->device >= 0
                       ? take(comm, made.get(), size)
                       : (host.emplace_back(new char[size])).get();
    lacks |= !memory;
    return memory;
  };
  const char *from = nullptr;
  char *to = nullptr;
  if (const mlc_on_device *there = operation->on_device) {
    from = static_cast<const char *>(there->input);
    to = static_cast<char *>(there->output);
    made->ready = batch.ready = static_cast<cuda::CUevent>(there->ready);
    batch.done = static_cast<cuda::CUevent>(there->done);
  } else {
    auto *all = static_cast<char *>(data);
    if (comm->device >= 0 && bytes) {
      all = aside(bytes);
      batch.before.push_back({Copy::ToDevice, all, data, bytes});
      batch.after.push_back({Copy::ToHost, data, all, bytes});
    }
    from = all + ownPart(comm, *operation, MLC_ALL_GATHER);
    to = all + ownPart(comm, *operation, MLC_REDUCE_SCATTER);
  }
  if (!makeCalls(comm, *operation, from, to, aside, batch))
    return comm->failed(
        MLC_UNSUPPORTED,
        "NCCL has no sum of this type; take another algorithm than own");
  if (lacks)
    return lacksMemory(comm, bytes);
  *request = made.release();
  (*request)->host = std::move(host);
  enqueue(*comm, std::move(batch));
  return MLC_OK;
}

int stage(mlc_comm *comm, mlc_request *request) {
  int stage = MLC_STAGE_READY;
  if (request->ready) {
    (void)driver().cuCtxSetCurrent(comm->context);
    // Other errors are told by whoever waits for the stream.
    if (driver().cuEventQuery(request->ready) == cuda::CUDA_ERROR_NOT_READY)
      stage = 0;
  }
  std::lock_guard<std::mutex> lock(comm->mutex);
  return stage + (request->queued ? MLC_STAGE_QUEUED : 0);
}

mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  flush(comm);
  {
    std::unique_lock<std::mutex> lock(comm->mutex);
    auto hasNews = [&] {
      return request->done || (request->queued && !request->told);
    };
    if (!hasNews() && nanoseconds > 0)
      comm->changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                             hasNews);
    request->told = request->queued;
    *done = request->done;
  }
  if (!*done) {
    ncclResult_t error = ncclSuccess;
    if (!comm->cancelled)
      library().ncclCommGetAsyncError(comm->handle, &error);
    return error == ncclSuccess || error == ncclInProgress
               ? MLC_OK
               : comm->failed(MLC_DEVICE, describe(error, "NCCL"));
  }
  for (Block *block : request->blocks)
    block->isTaken = false;
  std::string failure = std::move(request->failure);
  delete request;
  return failure.empty() ? MLC_OK : comm->failed(MLC_DEVICE, failure);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v4(void) {
  static const mlc_engine engine = [] {
    mlc_engine table{};
    table.name = "nccl";
    table.stepwise = 1;
    table.open = open;
    table.close = close;
    table.abort = abort;
    table.split = split;
    table.send = send;
    table.receive = receive;
    table.collective = collective;
    table.test = test;
    table.stage = stage;
    table.cancel = cancel;
    table.publish = publishOnBoard<mlc_comm>;
    table.look = lookOnBoard<mlc_comm>;
    return makeTable<mlc_comm>(table);
  }();
  return &engine;
}
