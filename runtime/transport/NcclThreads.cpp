//===- NcclThreads.cpp - Threads that call NCCL and wait ------------------===//
//
// NCCL's calls return once they are enqueued, but may wait for other ranks
// before that, and the first ones always do. So one thread makes the calls in
// order, and another waits for the stream.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/NcclEngine.h"

#include <cstring>

namespace mlc::runtime::nccl {

namespace {

cuda::CUdeviceptr address(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

Status copy(const mlc_comm &comm, const Copy &what) {
  const cuda::Driver &cuda = driver();
  switch (what.kind) {
  case Copy::ToDevice:
    return cuda.check(cuda.cuMemcpyHtoDAsync_v2(address(what.to), what.from,
                                                what.bytes, comm.stream),
                      "cannot copy to the GPU");
  case Copy::ToHost:
    return cuda.check(cuda.cuMemcpyDtoHAsync_v2(what.to, address(what.from),
                                                what.bytes, comm.stream),
                      "cannot copy from the GPU");
  case Copy::OnDevice:
    break;
  }
  return cuda.check(cuda.cuMemcpyDtoDAsync_v2(address(what.to),
                                              address(what.from), what.bytes,
                                              comm.stream),
                    "cannot copy on the GPU");
}

Status copyAll(const mlc_comm &comm, const std::vector<Copy> &copies) {
  for (const Copy &one : copies) {
    if (comm.device < 0)
      std::memcpy(one.to, one.from, one.bytes);
    else if (Status status = copy(comm, one); !status.ok())
      return status;
  }
  return Status::success();
}

/// Enqueues the waits and copies that precede the calls.
Status prepare(const mlc_comm &comm, const Batch &batch) {
  const cuda::Driver &cuda = driver();
  Status status;
  if (comm.cancelled)
    return Status::error(MLC_DEVICE, "the collective before has failed");
  if (comm.device >= 0)
    status = cuda.check(cuda.cuCtxSetCurrent(comm.context),
                        "the GPU cannot be used");
  if (status.ok() && batch.ready)
    status = cuda.check(cuda.cuStreamWaitEvent(comm.stream, batch.ready, 0),
                        "NCCL's stream cannot wait for the session's");
  return status.ok() ? copyAll(comm, batch.before) : status;
}

/// Makes the calls. Returns an error, or nothing.
std::string call(const mlc_comm &comm, const Batch &batch) {
  if (Status status = prepare(comm, batch); !status.ok())
    return status.message;
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
  Status status;
  if (batch.done && !comm.cancelled)
    status = driver().check(driver().cuEventRecord(batch.done, comm.stream),
                            "NCCL's stream cannot record an event");
  return status.message;
}

/// Waits until the stream has done the batch.
std::string finish(const mlc_comm &comm, const Batch &batch) {
  const cuda::Driver &cuda = driver();
  auto wait = [&] {
    return comm.device < 0 ? Status::success()
                           : cuda.check(cuda.cuStreamSynchronize(comm.stream),
                                        "NCCL's stream");
  };
  Status status;
  if (comm.device >= 0)
    status = cuda.check(cuda.cuCtxSetCurrent(comm.context),
                        "the GPU cannot be used");
  if (status.ok())
    status = wait();
  if (status.ok())
    status = copyAll(comm, batch.after);
  if (status.ok() && !batch.after.empty())
    status = wait();
  return status.message;
}

/// Requires the lock.
void end(mlc_comm &comm, const Batch &batch, const std::string &failure) {
  for (mlc_request *request : batch.requests) {
    request->failure = failure;
    request->queued = request->done = true;
  }
  comm.changed.notify_all();
}

void callAll(mlc_comm &comm) {
  std::unique_lock<std::mutex> lock(comm.mutex);
  for (;;) {
    comm.changed.wait(lock,
                      [&] { return comm.closing || !comm.batches.empty(); });
    if (comm.batches.empty())
      break;
    Batch batch = std::move(comm.batches.front());
    comm.batches.pop_front();
    lock.unlock();
    const std::string failure = call(comm, batch);
    lock.lock();
    if (!failure.empty()) {
      end(comm, batch, failure);
      continue;
    }
    for (mlc_request *request : batch.requests)
      request->queued = true;
    comm.issued.push_back(std::move(batch));
    comm.changed.notify_all();
  }
  comm.called = true;
  comm.changed.notify_all();
}

void waitForAll(mlc_comm &comm) {
  std::unique_lock<std::mutex> lock(comm.mutex);
  for (;;) {
    comm.changed.wait(lock,
                      [&] { return comm.called || !comm.issued.empty(); });
    if (comm.issued.empty())
      return;
    const Batch batch = std::move(comm.issued.front());
    comm.issued.pop_front();
    lock.unlock();
    const std::string failure = finish(comm, batch);
    lock.lock();
    end(comm, batch, failure);
  }
}

} // namespace

void startThreads(mlc_comm &comm) {
  comm.caller = std::thread([&comm] { callAll(comm); });
  comm.waiter = std::thread([&comm] { waitForAll(comm); });
}

void endThreads(mlc_comm &comm) {
  {
    std::lock_guard<std::mutex> lock(comm.mutex);
    comm.closing = true;
  }
  comm.changed.notify_all();
  for (std::thread *thread : {&comm.caller, &comm.waiter})
    if (thread->joinable())
      thread->join();
}

void enqueue(mlc_comm &comm, Batch batch) {
  {
    std::lock_guard<std::mutex> lock(comm.mutex);
    comm.batches.push_back(std::move(batch));
  }
  comm.changed.notify_all();
}

} // namespace mlc::runtime::nccl
