//===- NcclEngine.h - Shared parts of the engine NCCL -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
#define MLC_RUNTIME_TRANSPORT_NCCLENGINE_H

#include "runtime/cuda/Driver.h"
#include "runtime/transport/Nccl.h"
#include "runtime/transport/Rendezvous.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace mlc::runtime::nccl {

/// GPU memory for copies of host memory and for temporaries.
struct Block {
  char *memory = nullptr;
  size_t bytes = 0;
  bool isTaken = false;
};

/// A copy on the stream.
struct Copy {
  enum Kind : uint8_t { ToDevice, ToHost, OnDevice };
  Kind kind;
  void *to;
  const void *from;
  size_t bytes;
};

} // namespace mlc::runtime::nccl

struct mlc_request {
  /// Guarded by the lock: NCCL was called; the stream has done the work.
  bool queued = false, done = false;
  std::string failure;
  /// Whether test() has reported `queued`.
  bool told = false;
  mlc::runtime::cuda::CUevent ready = nullptr;
  std::vector<mlc::runtime::nccl::Block *> blocks;
  /// The same without a GPU.
  std::vector<std::unique_ptr<char[]>> host;
};

namespace mlc::runtime::nccl {

/// One or more calls that NCCL carries out together, and what precedes and
/// follows them.
struct Batch {
  std::vector<std::function<ncclResult_t()>> calls;
  std::vector<mlc_request *> requests;
  bool grouped = true;
  /// Events that the stream waits for and records; null: none.
  cuda::CUevent ready = nullptr, done = nullptr;
  std::vector<Copy> before, after;
};

/// The loaded libraries; the driver only if there is a GPU.
const Library &library();
const cuda::Driver &driver();
std::string describe(ncclResult_t result, const char *what);

/// Makes the calls of a collective from `from` to `to`, as in mlc_on_device;
/// both are GPU memory if there is a GPU. `aside` allocates temporaries of that
/// kind. False for a type that NCCL does not reduce.
bool makeCalls(mlc_comm *comm, const mlc_operation &operation, const char *from,
               char *to, const std::function<char *(size_t)> &aside,
               Batch &batch);

/// Threads that make the calls and wait for the stream.
void startThreads(mlc_comm &comm);
/// Ends the threads once all enqueued work is done.
void endThreads(mlc_comm &comm);
void enqueue(mlc_comm &comm, Batch batch);

} // namespace mlc::runtime::nccl

struct mlc_comm : mlc::runtime::transport::MetEnd {
  mlc::runtime::nccl::ncclComm_t handle = nullptr;
  int device = -1;
  mlc::runtime::cuda::CUcontext context = nullptr;
  mlc::runtime::nccl::cudaStream_t stream = nullptr;
  /// Must not move; only the thread that uses the engine touches them.
  std::deque<mlc::runtime::nccl::Block> blocks;
  /// From then on callers' events may no longer exist.
  std::atomic<bool> cancelled{false};
  /// Transfers begun since the last test.
  mlc::runtime::nccl::Batch pending;
  // The threads: one calls NCCL, the other waits for the stream.
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false, called = false;
  std::deque<mlc::runtime::nccl::Batch> batches, issued;
  std::thread caller, waiter;
};

#endif // MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
