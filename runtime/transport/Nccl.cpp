//===- Nccl.cpp - The engine NCCL, a plugin -------------------------------===//
//
// NCCL and CUDA are loaded at run time, so that this is always built. Ranks
// find each other as those of Gloo do, and get NCCL's id there.
//
// The memory is what the caller says: of a GPU (mlc_world::device), with a
// stream of its own, or, with -1, the host's; then CUDA is not touched and the
// stream is null. NVIDIA's library wants a GPU, the test's does not.
//
// NCCL's calls may wait for other ranks, so a thread makes them, in order, and
// waits for the stream. A group of calls is one step: transfers that are begun
// before the next test (mlc_engine.h, stepwise).
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/NcclEngine.h"

#include <cstdio>
#include <cstring>
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

namespace {

std::string describe(ncclResult_t result, const char *what) {
  return std::string(what) + ": " + library().ncclGetErrorString(result);
}

/// What is wrong, or nothing.
std::string carryOut(mlc_comm &comm, const Batch &batch) {
  if (comm.device >= 0)
    if (Status status = driver().check(driver().cuCtxSetCurrent(comm.context),
                                       "the GPU cannot be used");
        !status.ok())
      return status.message;
  batch.before();
  ncclResult_t result = ncclSuccess;
  if (batch.grouped)
    result = library().ncclGroupStart();
  for (size_t i = 0; i < batch.calls.size() && result == ncclSuccess; ++i)
    result = batch.calls[i]();
  if (batch.grouped) {
    const ncclResult_t end = library().ncclGroupEnd();
    result = result == ncclSuccess ? end : result;
  }
  if (result != ncclSuccess)
    return describe(result, "NCCL");
  if (comm.device >= 0)
    if (Status status = driver().check(
            driver().cuStreamSynchronize(comm.stream), "NCCL's stream");
        !status.ok())
      return status.message;
  batch.after();
  return "";
}

void work(mlc_comm &comm) {
  std::unique_lock<std::mutex> lock(comm.mutex);
  for (;;) {
    comm.changed.wait(lock,
                      [&] { return comm.closing || !comm.batches.empty(); });
    if (comm.batches.empty())
      return;
    const Batch batch = std::move(comm.batches.front());
    comm.batches.pop_front();
    lock.unlock();
    const std::string failure = carryOut(comm, batch);
    lock.lock();
    for (mlc_request *request : batch.requests) {
      request->failure = failure;
      request->done = true;
    }
    comm.changed.notify_all();
  }
}

void enqueue(mlc_comm *comm, Batch batch) {
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->batches.push_back(std::move(batch));
  }
  comm->changed.notify_all();
}

void flush(mlc_comm *comm) {
  if (comm->pending.calls.empty())
    return;
  enqueue(comm, std::move(comm->pending));
  comm->pending = {};
}

/// NCCL's communicator for the ranks that have met, and the thread.
std::string connect(mlc_comm &comm, int device, Clock::time_point deadline) {
  comm.device = device;
  if (device >= 0) {
    const cuda::Driver &cuda = driver();
    cuda::CUdevice gpu = 0;
    Status status =
        cuda.check(cuda.cuDeviceGet(&gpu, device), "the GPU cannot be opened");
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
  }
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  std::string text;
  if (comm.rank == 0) {
    result = library().ncclGetUniqueId(&id);
    text.assign(id.internal, sizeof(id.internal));
    comm.meeting->notes().set(comm.prefix + "/nccl",
                              result == ncclSuccess ? text : "");
  }
  if (result != ncclSuccess)
    return describe(result, "ncclGetUniqueId");
  if (!comm.meeting->notes().wait(comm.prefix + "/nccl", text, deadline) ||
      text.size() != sizeof(id.internal))
    return "rank " + std::to_string(comm.ranks[0]) + " has no id of NCCL";
  std::memcpy(id.internal, text.data(), sizeof(id.internal));
  result = library().ncclCommInitRank(&comm.handle, comm.size, id, comm.rank);
  if (result != ncclSuccess)
    return describe(result, "ncclCommInitRank") +
           "; see what NCCL_DEBUG=WARN says";
  comm.thread = std::thread([&comm] { work(comm); });
  return "";
}

void close(mlc_comm *comm) {
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->closing = true;
  }
  comm->changed.notify_all();
  if (comm->thread.joinable())
    comm->thread.join();
  if (comm->handle)
    library().ncclCommDestroy(comm->handle);
  if (comm->stream)
    driver().cuStreamDestroy_v2(comm->stream);
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

/// Connections end with the process; its launcher ends the others.
void abort(mlc_comm *comm, int code) {
  library().ncclCommAbort(comm->handle);
  _exit(code);
}

mlc_request *begin(Batch &batch) {
  batch.requests.push_back(new mlc_request);
  return batch.requests.back();
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  *request = begin(comm->pending);
  comm->pending.calls.emplace_back([=] {
    return library().ncclSend(data, bytes, ncclUint8, peer, comm->handle,
                              comm->stream);
  });
  comm->count(true, bytes);
  return MLC_OK;
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  *request = begin(comm->pending);
  comm->pending.calls.emplace_back([=] {
    return library().ncclRecv(data, bytes, ncclUint8, peer, comm->handle,
                              comm->stream);
  });
  comm->count(false, bytes);
  return MLC_OK;
}

mlc_status collective(mlc_comm *comm, const mlc_operation *operation,
                      void *data, mlc_request **request) {
  flush(comm);
  Batch batch;
  if (!makeCalls(comm, *operation, static_cast<char *>(data), batch))
    return comm->failed(
        MLC_UNSUPPORTED,
        "NCCL has no sum of this type; take another algorithm than own");
  *request = begin(batch);
  enqueue(comm, std::move(batch));
  return MLC_OK;
}

mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  flush(comm);
  {
    std::unique_lock<std::mutex> lock(comm->mutex);
    if (!request->done && nanoseconds > 0)
      comm->changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                             [&] { return request->done; });
    *done = request->done;
  }
  if (!*done) {
    ncclResult_t error = ncclSuccess;
    library().ncclCommGetAsyncError(comm->handle, &error);
    return error == ncclSuccess || error == ncclInProgress
               ? MLC_OK
               : comm->failed(MLC_DEVICE, describe(error, "NCCL"));
  }
  std::string failure = std::move(request->failure);
  delete request;
  return failure.empty() ? MLC_OK : comm->failed(MLC_DEVICE, failure);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v2(void) {
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
    table.publish = publishOnBoard<mlc_comm>;
    table.look = lookOnBoard<mlc_comm>;
    return makeTable<mlc_comm>(table);
  }();
  return &engine;
}
