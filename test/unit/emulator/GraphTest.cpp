//===- GraphTest.cpp - Work that is captured and launched as one ----------===//

#include "Gpu.h"

#include <thread>

using namespace mlc::test;
using Catch::Contains;

namespace {

constexpr CUresult invalidValue = 1, invalidHandle = 400, illegalState = 401,
                   launchFailed = 719, unsupported = 900, invalidated = 901,
                   capturedEvent = 907, wrongThread = 908;
constexpr int ofAllThreads = 0, ofThisThread = 1, relaxed = 2;

const char *const add = "MLC_KERNEL(k)(int *out, long long value) { "
                        "out[threadIdx.x] += int(value); }";

/// Hands the kernel to the stream, and does not wait.
CUresult hand(CUfunction kernel, CUstream stream, CUdeviceptr out,
              unsigned long long value) {
  unsigned long long words[] = {out, value};
  size_t bytes = sizeof(words);
  void *extra[] = {reinterpret_cast<void *>(1), words,
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  return cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 0, stream, nullptr, extra);
}

/// What `work` hands to the stream, as something that can be launched.
template <typename Work> CUgraphExec record(CUstream stream, Work work) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(cuStreamBeginCapture_v2(stream, ofThisThread) == 0);
  work();
  REQUIRE(cuStreamEndCapture(stream, &graph) == 0);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  REQUIRE(cuGraphDestroy(graph) == 0);
  return exec;
}

} // namespace

TEST_CASE("what is captured runs in order when it is launched", "[graph]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(add);
  CUdeviceptr a = gpu.upload<int>({1, 2, 3, 4}), b = gpu.allocate(16);
  CUgraphExec exec = record(gpu.stream, [&] {
    REQUIRE(hand(kernel, gpu.stream, a, 10) == 0);
    REQUIRE(cuMemcpyDtoDAsync_v2(b, a, 16, gpu.stream) == 0);
    REQUIRE(hand(kernel, gpu.stream, b, 100) == 0);
  });
  CHECK(gpu.download<int>(a, 4) == std::vector<int>{1, 2, 3, 4});
  REQUIRE(cuGraphLaunch(exec, gpu.stream) == 0);
  CHECK(gpu.download<int>(b, 4) == std::vector<int>{111, 112, 113, 114});
  // In its turn, and as often as wanted.
  REQUIRE(hand(kernel, gpu.stream, a, 1000) == 0);
  for (int i = 0; i < 2; ++i)
    REQUIRE(cuGraphLaunch(exec, gpu.stream) == 0);
  // Who destroys it does not take it from the stream.
  CHECK(cuGraphExecDestroy(exec) == 0);
  CHECK(gpu.download<int>(b, 4) == std::vector<int>{1131, 1132, 1133, 1134});
  CHECK(cuGraphLaunch(exec, gpu.stream) == invalidHandle);
  CHECK(cuGraphExecDestroy(exec) == invalidHandle);
  CHECK(gpu.report().empty());
}

TEST_CASE("accesses of captured launches are checked", "[graph]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(add);
  CUdeviceptr small = gpu.upload<int>({1, 2, 3});
  CUgraphExec exec = record(
      gpu.stream, [&] { REQUIRE(hand(kernel, gpu.stream, small, 1) == 0); });
  CHECK(gpu.report().empty());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cuGraphLaunch(exec, gpu.stream) == 0);
    CHECK(cuStreamSynchronize(gpu.stream) != 0);
    CHECK_THAT(gpu.report(), Contains("out of bounds"));
  }
  CHECK(cuGraphExecDestroy(exec) == 0);
}

TEST_CASE("what a capture forbids", "[graph]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(add);
  CUdeviceptr a = gpu.upload<int>({1, 2, 3, 4}), more = 0;
  void *pinned = nullptr;
  CUgraph graph = nullptr;
  REQUIRE(cuMemAllocHost_v2(&pinned, 16) == 0);
  auto begin = [&](int mode) {
    REQUIRE(cuStreamBeginCapture_v2(gpu.stream, mode) == 0);
  };
  using Forbidden = CUresult (*)(CUstream, CUdeviceptr, void *);
  const Forbidden wrong[] = {
      [](CUstream stream, CUdeviceptr, void *) {
        return cuStreamSynchronize(stream);
      },
      [](CUstream, CUdeviceptr, void *) {
        CUdeviceptr memory = 0;
        return cuMemAlloc_v2(&memory, 4);
      },
      [](CUstream, CUdeviceptr a, void *) { return cuMemFree_v2(a); },
      [](CUstream, CUdeviceptr, void *) {
        void *memory = nullptr;
        return cuMemAllocHost_v2(&memory, 4);
      },
      [](CUstream, CUdeviceptr, void *pinned) {
        return cuMemFreeHost(pinned);
      }};
  for (auto call : wrong) {
    begin(ofThisThread);
    CHECK(call(gpu.stream, a, pinned) == unsupported);
    // Nothing becomes of it.
    CHECK(hand(kernel, gpu.stream, a, 1) == invalidated);
    CHECK(cuStreamEndCapture(gpu.stream, &graph) == invalidated);
    CHECK(graph == nullptr);
    CHECK(gpu.download<int>(a, 4) == std::vector<int>{1, 2, 3, 4});
  }
  // What other threads do counts for a capture of all threads alone.
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  for (int mode : {ofAllThreads, ofThisThread, relaxed}) {
    begin(mode);
    std::thread([&] {
      CHECK(cuCtxSetCurrent(context) == 0);
      CUresult result = cuMemAlloc_v2(&more, 4);
      CHECK(result == (mode == ofAllThreads ? unsupported : 0));
      if (!result)
        CHECK(cuMemFree_v2(more) == 0);
      CHECK(cuStreamEndCapture(gpu.stream, &graph) ==
            (mode == relaxed ? 0 : wrongThread));
    }).join();
    if (mode != relaxed)
      CHECK(cuStreamEndCapture(gpu.stream, &graph) ==
            (mode == ofAllThreads ? invalidated : 0));
    if (mode != ofAllThreads)
      CHECK(cuGraphDestroy(graph) == 0);
  }
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
  CHECK(cuMemFreeHost(pinned) == 0);
}

TEST_CASE("graphs, and misuse of them", "[graph]") {
  Gpu gpu;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUevent event = nullptr;
  CHECK(cuStreamBeginCapture_v2(nullptr, ofThisThread) == unsupported);
  CHECK(cuStreamBeginCapture_v2(gpu.stream, 3) == invalidValue);
  CHECK(cuStreamEndCapture(gpu.stream, &graph) == illegalState);
  REQUIRE(cuStreamBeginCapture_v2(gpu.stream, ofThisThread) == 0);
  CHECK(cuStreamBeginCapture_v2(gpu.stream, ofThisThread) == illegalState);
  REQUIRE(cuEventCreate(&event, 0) == 0);
  CHECK(cuEventRecord(event, gpu.stream) == 0);
  CHECK(cuEventSynchronize(event) == capturedEvent);
  CHECK(cuStreamEndCapture(gpu.stream, nullptr) == invalidValue);
  REQUIRE(cuStreamEndCapture(gpu.stream, &graph) == 0);
  CHECK(cuEventDestroy_v2(event) == 0);
  CHECK(cuGraphInstantiateWithFlags(&exec, nullptr, 0) == invalidHandle);
  CHECK(cuGraphInstantiateWithFlags(nullptr, graph, 0) == invalidValue);
  CHECK(cuGraphInstantiateWithFlags(&exec, graph, 1) == invalidValue);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  CHECK(cuGraphDestroy(graph) == 0);
  CHECK(cuGraphDestroy(graph) == invalidHandle);
  CHECK(cuGraphLaunch(exec, reinterpret_cast<CUstream>(&exec)) ==
        invalidHandle);
  CHECK(cuGraphExecDestroy(exec) == 0);
  CHECK(cuGraphExecDestroy(nullptr) == invalidHandle);
}

TEST_CASE("graphs that are left are reported", "[graph]") {
  CUcontext context = nullptr;
  CUstream stream = nullptr, captured = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(cuInit(0) == 0);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  REQUIRE(cuCtxSetCurrent(context) == 0);
  REQUIRE(cuStreamCreate(&stream, 1) == 0);
  REQUIRE(cuStreamCreate(&captured, 1) == 0);
  REQUIRE(cuStreamBeginCapture_v2(stream, ofThisThread) == 0);
  REQUIRE(cuStreamEndCapture(stream, &graph) == 0);
  REQUIRE(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  REQUIRE(cuStreamBeginCapture_v2(captured, ofThisThread) == 0);
  mlcEmulatorClearReport();
  CHECK(cuStreamDestroy_v2(stream) == 0);
  CHECK(std::string(mlcEmulatorReport()).empty());
  CHECK(cuStreamDestroy_v2(captured) == 0);
  CHECK_THAT(mlcEmulatorReport(), Contains("while it is captured"));
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
  CHECK_THAT(mlcEmulatorReport(),
             Contains("1 graphs, 1 graphs that can be launched"));
  mlcEmulatorClearReport();
}

TEST_CASE("a captured launch that fails drops what is behind", "[graph]") {
  Gpu gpu;
  CUfunction kernel = gpu.kernel(add);
  CUdeviceptr a = gpu.upload<int>({1, 2, 3, 4}), unwritten = gpu.allocate(16);
  CUgraphExec exec = record(gpu.stream, [&] {
    REQUIRE(hand(kernel, gpu.stream, unwritten, 1) == 0);
    REQUIRE(hand(kernel, gpu.stream, a, 1) == 0);
  });
  REQUIRE(cuGraphLaunch(exec, gpu.stream) == 0);
  CHECK(cuStreamSynchronize(gpu.stream) != 0);
  CHECK_FALSE(gpu.report().empty());
  CHECK(gpu.download<int>(a, 4) == std::vector<int>{1, 2, 3, 4});
  mlcEmulatorFail("cuGraphLaunch:1=719");
  CHECK(cuGraphLaunch(exec, gpu.stream) == launchFailed);
  mlcEmulatorFail("");
  CHECK(cuGraphExecDestroy(exec) == 0);
}
