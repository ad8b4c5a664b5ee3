//===- NcclEngine.h - What the parts of the engine NCCL share ---*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
#define MLC_RUNTIME_TRANSPORT_NCCLENGINE_H

#include "runtime/cuda/Driver.h"
#include "runtime/transport/Meeting.h"
#include "runtime/transport/Nccl.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace mlc::runtime::nccl {

/// Memory of the GPU for what lies in the host's, and beside what is exchanged.
struct Block {
  char *memory = nullptr;
  size_t bytes = 0;
  bool isTaken = false;
};

/// On the stream.
struct Copy {
  enum Kind : uint8_t { ToDevice, ToHost, OnDevice };
  Kind kind;
  void *to;
  const void *from;
  size_t bytes;
};

} // namespace mlc::runtime::nccl

struct mlc_request {
  /// Under the lock: the calls have been made; the stream has done them.
  bool queued = false, done = false;
  std::string failure;
  /// Whether test() has returned because of `queued`.
  bool told = false;
  mlc::runtime::cuda::CUevent ready = nullptr;
  std::vector<mlc::runtime::nccl::Block *> blocks;
  /// The same where there is no GPU.
  std::vector<std::unique_ptr<char[]>> host;
};

namespace mlc::runtime::nccl {

/// Calls that NCCL carries out together, or one, and what goes before and
/// behind.
struct Batch {
  std::vector<std::function<ncclResult_t()>> calls;
  std::vector<mlc_request *> requests;
  bool grouped = true;
  /// What the stream waits for, and what is recorded there; null: nothing.
  cuda::CUevent ready = nullptr, done = nullptr;
  std::vector<Copy> before, after;
};

/// Loaded; the driver only where there is a GPU.
const Library &library();
const cuda::Driver &driver();
std::string describe(ncclResult_t result, const char *what);

/// The calls of a collective from `from` to `to`, which are as in
/// mlc_on_device; both are the GPU's memory if there is one. `aside` gives
/// memory of that kind. False for a type that NCCL does not reduce.
bool makeCalls(mlc_comm *comm, const mlc_operation &operation, const char *from,
               char *to, const std::function<char *(size_t)> &aside,
               Batch &batch);

/// Threads that make the calls and wait for the stream.
void startThreads(mlc_comm &comm);
/// When all that was handed over is done.
void endThreads(mlc_comm &comm);
void enqueue(mlc_comm &comm, Batch batch);

} // namespace mlc::runtime::nccl

struct mlc_comm : mlc::runtime::transport::MetEnd {
  mlc::runtime::nccl::ncclComm_t handle = nullptr;
  int device = -1;
  mlc::runtime::cuda::CUcontext context = nullptr;
  mlc::runtime::nccl::cudaStream_t stream = nullptr;
  /// Do not move; of the thread that uses the engine.
  std::deque<mlc::runtime::nccl::Block> blocks;
  /// From then on events of callers' may not be there any more.
  std::atomic<bool> cancelled{false};
  /// Transfers that have been begun since the last test.
  mlc::runtime::nccl::Batch pending;
  // The threads: one calls NCCL, the other waits for the stream.
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false, called = false;
  std::deque<mlc::runtime::nccl::Batch> batches, issued;
  std::thread caller, waiter;
};

#endif // MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
