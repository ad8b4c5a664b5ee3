//===- CudaRecording.cpp - Launches as CUDA graphs ------------------------===//

#include "runtime/cuda/CudaQueue.h"

namespace mlc::runtime::cuda {

namespace {

/// A graph that can be launched.
class CudaRecording final : public Recording {
public:
  explicit CudaRecording(const Gpu &gpu) : gpu(gpu) {}
  ~CudaRecording() override {
    // Ignore errors in the destructor.
    (void)gpu.enter();
    if (exec)
      (void)gpu.driver.cuGraphExecDestroy(exec);
  }

  const Gpu &gpu;
  CUgraphExec exec = nullptr;
  /// For messages of failures.
  uint64_t numLaunches = 0;
  LaunchName lastLaunch;

  std::string text() const {
    if (numLaunches == 0)
      return "no launches";
    if (numLaunches == 1)
      return lastLaunch.text();
    return std::to_string(numLaunches) + " launches, the last of them of " +
           lastLaunch.text();
  }
};

} // namespace

void CudaQueue::beginRecording() {
  if (!failure.ok())
    return;
  failure = driver.check(driver.cuStreamBeginCapture_v2(
                             handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                         "cannot record launches");
  isRecording = failure.ok();
  numRecorded = 0;
}

void CudaQueue::endRecording(std::unique_ptr<Recording> &recording) {
  if (!isRecording)
    return;
  isRecording = false;
  CUgraph graph = nullptr;
  CUresult result = driver.cuStreamEndCapture(handle, &graph);
  // In any case leave capture mode, so that the stream runs its work again.
  if (result != CUDA_SUCCESS)
    (void)driver.cuStreamEndCapture(handle, &graph);
  auto made = std::make_unique<CudaRecording>(gpu);
  made->numLaunches = numRecorded;
  made->lastLaunch = lastLaunch;
  if (result == CUDA_SUCCESS && failure.ok())
    result = driver.cuGraphInstantiateWithFlags(&made->exec, graph, 0);
  if (graph)
    (void)driver.cuGraphDestroy(graph);
  if (failure.ok() && result != CUDA_SUCCESS)
    failure = driver.error(result, "cannot record " + made->text());
  if (failure.ok())
    recording = std::move(made);
}

void CudaQueue::replay(Recording &recording) {
  if (!failure.ok())
    return;
  auto &made = static_cast<CudaRecording &>(recording);
  isBusy = true;
  if (CUresult result = driver.cuGraphLaunch(made.exec, handle)) {
    failure = driver.error(result, "cannot launch " + made.text());
    return;
  }
  numLaunches += made.numLaunches;
  if (made.numLaunches)
    lastLaunch = made.lastLaunch;
}

} // namespace mlc::runtime::cuda
