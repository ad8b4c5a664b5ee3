//===- CudaQueue.h - A session's work on a GPU ------------------*- C++ -*-===//
//
// A stream. Copies pass through pinned memory, so that the host's may change at
// once; only what is larger than that waits. In a run that has been done before
// nothing is allocated, and one wait, at the end, is for all.
//
// Library kernels run on the host: the queue waits for their operands, takes
// them there and brings the results back. That is correct, and slow.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_CUDAQUEUE_H
#define MLC_RUNTIME_CUDA_CUDAQUEUE_H

#include "runtime/Device.h"
#include "runtime/Memory.h"
#include "runtime/cuda/Gpu.h"

#include <atomic>

namespace mlc::runtime::cuda {

/// What the handle of a kernel points at.
struct CudaKernel {
  CUfunction function = nullptr;
  std::string name;
  /// Whether it may have more shared memory than any kernel has.
  mutable std::atomic<bool> hasMuchShared{false};
};

/// What is told of a launch that fails.
struct LaunchName {
  const CudaKernel *kernel = nullptr;
  const Step *step = nullptr; ///< may be null
  /// "kernel k3 (nodes Mul_0, Add_1)"
  std::string text() const;
};

class CudaQueue final : public Queue {
public:
  CudaQueue(Device &device, const Gpu &gpu)
      : Queue(device), gpu(gpu), driver(gpu.driver) {}
  ~CudaQueue() override;
  /// Before all else. On `given`, which is the caller's, unless it is null.
  Status open(void *given);

  /// Blocks that fit on the GPU at one time, roughly.
  unsigned workers() const override { return gpu.multiprocessors * 4; }
  void begin() override;
  Status finish() override;
  Status flush() override;
  void *stream() const override { return handle; }
  bool hasEvents() const override { return true; }
  Status makeEvent(std::unique_ptr<Event> &event) override;
  Status record(Event &event) override;
  Status waitFor(Event &event) override;
  Status upload(void *to, const void *from, uint64_t bytes) override;
  Status download(void *to, const void *from, uint64_t bytes) override;
  Status copy(void *to, const void *from, uint64_t bytes) override;
  Status downloadLater(void *to, const void *from, uint64_t bytes) override;
  void launch(const Launch &launch) override;
  void launch(const LibraryLaunch &launch) override;
  bool canRecord() const override { return !launchesBlock; }
  void beginRecording() override;
  void endRecording(std::unique_ptr<Recording> &recording) override;
  void replay(Recording &recording) override;
  Status reserveStamps(size_t count) override;
  void stamp(size_t index) override;
  Status elapsed(size_t from, size_t to, uint64_t &ns) const override;

private:
  Status take(void *given);
  Status ready();
  Status wait();
  Status failed(CUresult result, uint64_t launches) const;
  Status takePinned(uint64_t bytes, uint8_t *&piece);
  Status growPinned();
  bool usesPinned(uint64_t bytes) const;
  Status tryLaunch(const Launch &launch, const CudaKernel &kernel);
  Status allowShared(const Launch &launch, const CudaKernel &kernel);
  void setWords(const Launch &launch);
  Status runOnHost(const LibraryLaunch &launch);

  const Gpu &gpu;
  const Driver &driver;
  CUstream handle = nullptr;
  bool ownsStream = false;
  bool isRunning = false;
  /// Whether the stream notes what it is given.
  bool isRecording = false;
  /// The first of the run; nothing is done after it.
  Status failure;
  /// Whether the stream was given anything since the queue waited for it.
  bool isBusy = false;
  /// Whether the driver waits in each launch (CUDA_LAUNCH_BLOCKING), so that it
  /// can say which has failed; of recorded ones it could not.
  bool launchesBlock = false;
  /// Of what the queue has not waited for.
  uint64_t numLaunches = 0;
  LaunchName lastLaunch;
  /// Of the recording under way.
  uint64_t numRecorded = 0;

  /// Pinned memory, the front part in use; grows to what a run needs.
  uint8_t *pinned = nullptr;
  uint64_t pinnedSize = 0, pinnedUsed = 0;
  /// What the run has asked of it so far.
  uint64_t pinnedWanted = 0;
  /// Copies from pinned memory to the caller's that are left for the wait.
  struct LateCopy {
    void *to;
    const void *from;
    uint64_t bytes;
  };
  std::vector<LateCopy> lateCopies;
  std::vector<CUevent> stamps;
  /// Reused from launch to launch.
  std::vector<uint64_t> words;
  std::vector<LibraryOperand> hostOperands;
  Memory hostMemory;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_CUDAQUEUE_H
