//===- CudaQueue.h - A session's work on a GPU ------------------*- C++ -*-===//
//
// A stream. Copies pass through pinned memory, so that the host's memory may
// change at once; only larger copies wait. A repeated run allocates nothing and
// waits once, at the end.
//
// Library kernels run on the host: the queue waits for their operands, copies
// them to the host and copies the results back. That is correct but slow.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_CUDAQUEUE_H
#define MLC_RUNTIME_CUDA_CUDAQUEUE_H

#include "runtime/Device.h"
#include "runtime/Memory.h"
#include "runtime/cuda/Gpu.h"

#include <atomic>

namespace mlc::runtime::cuda {

/// The target of a KernelHandle.
struct CudaKernel {
  CUfunction function = nullptr;
  std::string name;
  /// Whether it waits for the launch in front by itself, so that it may begin
  /// before that has ended.
  bool waits = false;
  /// Whether it was granted more shared memory than the default.
  mutable std::atomic<bool> hasMuchShared{false};
};

/// Names a failed launch in messages.
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
  /// Call first. Uses the caller's stream `given` unless it is null.
  Status open(void *given);

  /// Roughly the blocks that fit on the GPU at one time.
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
  CUresult launchOverlapped(const Launch &launch, const CudaKernel &kernel,
                            unsigned blocks);
  Status tryLaunch(const Launch &launch, const CudaKernel &kernel);
  Status allowShared(const Launch &launch, const CudaKernel &kernel);
  Status encode(const Launch &launch, const CudaKernel &kernel, size_t index);
  Status setMaps(const Launch &launch, const CudaKernel &kernel);
  void setParameters(const Launch &launch);
  Status runOnHost(const LibraryLaunch &launch);

  const Gpu &gpu;
  const Driver &driver;
  CUstream handle = nullptr;
  bool ownsStream = false;
  bool isRunning = false;
  /// Whether the stream is being captured.
  bool isRecording = false;
  /// The first failure of the run; later work is skipped.
  Status failure;
  /// Whether the stream got work since the last wait.
  bool isBusy = false;
  /// Whether the driver waits in each launch (CUDA_LAUNCH_BLOCKING) to tell
  /// which one fails. It cannot tell for recorded launches.
  bool launchesBlock = false;
  /// Launches since the last wait.
  uint64_t numLaunches = 0;
  LaunchName lastLaunch;
  /// Launches of the current recording.
  uint64_t numRecorded = 0;

  /// Pinned memory, the front part in use; grows to what a run needs.
  uint8_t *pinned = nullptr;
  uint64_t pinnedSize = 0, pinnedUsed = 0;
  /// Bytes of it that the run has asked for so far.
  uint64_t pinnedWanted = 0;
  /// Copies from pinned memory to the caller's that the wait will make.
  struct LateCopy {
    void *to;
    const void *from;
    uint64_t bytes;
  };
  std::vector<LateCopy> lateCopies;
  std::vector<CUevent> stamps;
  /// Reused from launch to launch.
  std::vector<uint64_t> words;
  std::vector<void *> parameters;
  std::vector<LibraryOperand> hostOperands;
  Memory hostMemory;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_CUDAQUEUE_H
