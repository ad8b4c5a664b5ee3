//===- NcclEngine.h - What the parts of the engine NCCL share ---*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
#define MLC_RUNTIME_TRANSPORT_NCCLENGINE_H

#include "runtime/cuda/Driver.h"
#include "runtime/transport/Meeting.h"
#include "runtime/transport/Nccl.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

struct mlc_request {
  bool done = false;
  std::string failure;
};

namespace mlc::runtime::nccl {

/// Calls that NCCL carries out together, or one.
struct Batch {
  std::vector<std::function<ncclResult_t()>> calls;
  std::vector<mlc_request *> requests;
  bool grouped = true;
  /// Before and after the calls.
  std::function<void()> before = [] {}, after = [] {};
};

/// Loaded; the driver only where data is in a GPU's memory.
const Library &library();
const cuda::Driver &driver();

/// The calls of a collective. False for a type that NCCL does not reduce.
bool makeCalls(mlc_comm *comm, const mlc_operation &operation, char *data,
               Batch &batch);

} // namespace mlc::runtime::nccl

struct mlc_comm : mlc::runtime::transport::MetEnd {
  mlc::runtime::nccl::ncclComm_t handle = nullptr;
  int device = -1;
  mlc::runtime::cuda::CUcontext context = nullptr;
  mlc::runtime::nccl::cudaStream_t stream = nullptr;
  // The thread that calls NCCL.
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  /// Transfers that have been begun since the last test.
  mlc::runtime::nccl::Batch pending;
  std::deque<mlc::runtime::nccl::Batch> batches;
  std::thread thread;
};

#endif // MLC_RUNTIME_TRANSPORT_NCCLENGINE_H
