//===- CudaQueue.h - A session's work on a GPU ------------------*- C++ -*-===//
//
// A stream. Small copies pass through pinned memory, so that the host's may
// change at once; large ones wait. In a run that has been done before nothing
// is allocated.
//
// Library kernels run on the host: the queue waits for their operands, takes
// them there and brings the results back. That is correct, and slow.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_CUDAQUEUE_H
#define MLC_RUNTIME_CUDA_CUDAQUEUE_H

#include "runtime/Memory.h"
#include "runtime/cuda/CudaDevice.h"

namespace mlc::runtime::cuda {

class CudaQueue final : public Queue {
public:
  explicit CudaQueue(CudaDevice &device)
      : Queue(device), gpu(device), driver(device.driver) {}
  ~CudaQueue() override;
  /// Before all else.
  Status open();

  /// Blocks that fit on the GPU at one time, roughly.
  unsigned workers() const override { return gpu.multiprocessors * 4; }
  void begin() override;
  Status finish() override;
  Status upload(void *to, const void *from, uint64_t bytes) override;
  Status download(void *to, const void *from, uint64_t bytes) override;
  Status copy(void *to, const void *from, uint64_t bytes) override;
  void launch(const Launch &launch) override;
  void launch(const LibraryLaunch &launch) override;
  bool canRecord() const override { return true; }
  void beginRecording() override;
  void endRecording(std::unique_ptr<Recording> &recording) override;
  void replay(Recording &recording) override;
  Status reserveStamps(size_t count) override;
  void stamp(size_t index) override;
  Status elapsed(size_t from, size_t to, uint64_t &ns) const override;

private:
  Status ready();
  Status wait();
  Status takePinned(uint64_t bytes, uint8_t *&piece);
  Status tryLaunch(const Launch &launch, const CudaKernel &kernel);
  Status allowShared(const Launch &launch, const CudaKernel &kernel);
  void setWords(const Launch &launch);
  Status runOnHost(const LibraryLaunch &launch);

  CudaDevice &gpu;
  const Driver &driver;
  CUstream stream = nullptr;
  bool isRunning = false;
  /// Whether the stream notes what it is given.
  bool isRecording = false;
  /// The first of the run; nothing is done after it.
  Status failure;
  /// Whether the stream was given anything since the queue waited for it.
  bool isBusy = false;
  /// Of what the queue has not waited for.
  uint64_t numLaunches = 0;
  /// How many there were when the recording under way began.
  uint64_t recordedFrom = 0;
  const CudaKernel *lastKernel = nullptr;

  /// Of pinnedSize bytes from the first copy on, the front part in use.
  uint8_t *pinned = nullptr;
  uint64_t pinnedUsed = 0;
  std::vector<CUevent> stamps;
  /// Reused from launch to launch.
  std::vector<uint64_t> words;
  std::vector<LibraryOperand> hostOperands;
  Memory hostMemory;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_CUDAQUEUE_H
