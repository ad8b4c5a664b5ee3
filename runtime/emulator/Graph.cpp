//===- Graph.cpp - Captured work that is launched as one ------------------===//

#include "runtime/emulator/Driver.h"

using namespace mlc::emulator;

bool Driver::isForbidden() {
  bool forbidden = false;
  for (CUstream stream : streams) {
    Capture *capture = stream->capture.get();
    bool concerns =
        capture &&
        (capture->mode == 0 ||
         (capture->mode == 1 && capture->thread == std::this_thread::get_id()));
    if (concerns)
      capture->isValid = false;
    forbidden |= concerns;
  }
  return forbidden;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  MLC_CALL(Context);
  if (!driver.streams.count(stream)) // the default stream cannot be captured
    return stream ? CUDA_ERROR_INVALID_HANDLE
                  : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (mode < 0 || mode > 2)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture = std::make_unique<Capture>();
  stream->capture->graph.context = currentContext;
  stream->capture->mode = mode;
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  MLC_CALL(Context);
  if (!driver.streams.count(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  if (!stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  if (stream->capture->mode != 2 &&
      stream->capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  std::unique_ptr<Capture> capture = std::move(stream->capture);
  *graph = nullptr;
  if (!capture->isValid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  *graph = new CUgraph_st(std::move(capture->graph));
  driver.graphs.insert(*graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                     unsigned long long flags) {
  MLC_CALL(Context);
  if (!driver.graphs.count(graph))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!exec || flags)
    return CUDA_ERROR_INVALID_VALUE;
  *exec = new CUgraphExec_st{*graph};
  driver.execs.insert(*exec);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  MLC_CALL(Context);
  if (!driver.execs.count(exec) || !driver.isStream(stream) ||
      exec->context != (stream ? stream->context : currentContext))
    return CUDA_ERROR_INVALID_HANDLE;
  for (const std::function<CUresult()> &work : exec->work)
    if (CUresult error = driver.submit(stream, work))
      return error;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  MLC_CALL(Context);
  if (!driver.graphs.erase(graph))
    return CUDA_ERROR_INVALID_HANDLE;
  delete graph;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  MLC_CALL(Context);
  if (!driver.execs.erase(exec))
    return CUDA_ERROR_INVALID_HANDLE;
  // Finish its launches first.
  driver.runAll();
  delete exec;
  return CUDA_SUCCESS;
}
