//===- DevicesTest.cpp - Several devices, and what the environment says ---===//

#include "Gpu.h"

#include <atomic>
#include <memory>
#include <thread>

using namespace mlc::test;
using Catch::Contains;

namespace {

constexpr CUresult invalidValue = 1, invalidDevice = 101, invalidHandle = 400,
                   notReady = 600, captureUnsupported = 900;

/// Doubles `n` floats of `from` into `to`.
const char *doubling = R"(
MLC_KERNEL(k)(const float *from, float *to, long long n) {
  for (long long i = threadIdx.x; i < n; i += blockDim.x)
    to[i] = 2 * from[i];
})";

/// As often as there are checks, launches and copies on a device of its own.
void work(int device, std::atomic<int> &wrong) {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr from = 0, to = 0;
  std::string text = std::string("#include \"mlc_device.cuh\"\n") + doubling;
  constexpr size_t n = 100;
  auto good = [&](CUresult result) { wrong += result != 0; };
  good(cuDevicePrimaryCtxRetain(&context, device));
  good(cuCtxSetCurrent(context));
  good(cuStreamCreate(&stream, 1));
  good(cuModuleLoadData(&module, text.c_str()));
  good(cuModuleGetFunction(&function, module, "k"));
  good(cuMemAlloc_v2(&from, n * 4));
  good(cuMemAlloc_v2(&to, n * 4));
  for (int round = 0; round < 30 && !wrong; ++round) {
    std::vector<float> in(n, float(device * 100 + round)), out(n);
    uint64_t words[] = {from, to, n};
    size_t bytes = sizeof(words);
    void *extra[] = {reinterpret_cast<void *>(1), words,
                     reinterpret_cast<void *>(2), &bytes, nullptr};
    good(cuMemcpyHtoDAsync_v2(from, in.data(), n * 4, stream));
    good(
        cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, nullptr, extra));
    good(cuMemcpyDtoHAsync_v2(out.data(), to, n * 4, stream));
    good(cuStreamSynchronize(stream));
    for (float value : out)
      wrong += value != 2 * in[0];
  }
  good(cuMemFree_v2(from));
  good(cuMemFree_v2(to));
  good(cuModuleUnload(module));
  good(cuStreamDestroy_v2(stream));
  good(cuDevicePrimaryCtxRelease_v2(device));
}

} // namespace

TEST_CASE("there are as many devices as the environment says", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "3");
  Gpu gpu(2);
  int value = 0;
  CHECK(cuDeviceGetCount(&value) == 0);
  CHECK(value == 3);
  CHECK(cuDeviceGet(&value, 2) == 0);
  CHECK(value == 2);
  CUcontext context = nullptr;
  char name[64];
  for (int number : {3, -1}) {
    CHECK(cuDeviceGet(&value, number) == invalidDevice);
    CHECK(cuDeviceGetName(name, 64, number) == invalidDevice);
    CHECK(cuDeviceGetAttribute(&value, 16, number) == invalidDevice);
    CHECK(cuDevicePrimaryCtxRetain(&context, number) == invalidDevice);
    CHECK(cuDevicePrimaryCtxRelease_v2(number) == invalidDevice);
  }
}

TEST_CASE("a kernel may not use another device's memory", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "2");
  Gpu first(0);
  std::vector<float> values(10, 3.f);
  CUdeviceptr there = first.upload(values);
  Gpu second(1);
  CUfunction function = second.kernel(doubling);
  CUdeviceptr here = second.allocate(40);
  CHECK(second.launch(function, {1, 32}, {there, here, 10}) == 700);
  CHECK_THAT(second.report(),
             Contains("access out of bounds: byte 0 of an allocation of 40 "
                      "bytes of device 0, while the kernel runs on 1"));
  // A copy may, whatever its stream.
  CUdeviceptr copied = second.allocate(40);
  REQUIRE(cuStreamSynchronize(first.stream) == 0);
  CHECK(cuMemcpyDtoDAsync_v2(copied, there, 40, second.stream) == 0);
  CHECK(second.launch(function, {1, 32}, {copied, here, 10}) == 0);
  CHECK(second.download<float>(here, 10) == std::vector<float>(10, 6.f));
  // It brings with it what nobody wrote.
  first.enter();
  CUdeviceptr unwritten = first.allocate(40);
  second.enter();
  CHECK(cuMemcpyDtoDAsync_v2(copied, unwritten, 40, second.stream) == 0);
  CHECK(second.launch(function, {1, 32}, {copied, here, 10}) == 719);
  CHECK_THAT(second.report(), Contains("read of bytes that nobody wrote"));
}

TEST_CASE("functions and streams are of one device", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "2");
  Gpu first(0);
  CUfunction function = first.kernel(doubling);
  CUcontext context = nullptr;
  CHECK(cuStreamGetCtx(first.stream, &context) == 0);
  Gpu second(1);
  CUcontext other = nullptr;
  CHECK(cuStreamGetCtx(second.stream, &other) == 0);
  CHECK(context != other);
  CHECK(cuStreamGetCtx(reinterpret_cast<CUstream>(&other), &other) ==
        invalidHandle);
  CHECK(cuStreamGetCtx(first.stream, nullptr) == invalidValue);
  CUdeviceptr memory = second.upload(std::vector<float>(10, 1.f));
  CHECK(second.launch(function, {1, 32}, {memory, memory, 10}) ==
        invalidHandle);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CHECK(cuStreamBeginCapture_v2(second.stream, 1) == 0);
  CHECK(cuStreamEndCapture(second.stream, &graph) == 0);
  CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  CHECK(cuGraphLaunch(exec, first.stream) == invalidHandle);
  CHECK(cuGraphLaunch(exec, second.stream) == 0);
  CHECK(cuGraphExecDestroy(exec) == 0);
  CHECK(cuGraphDestroy(graph) == 0);
}

TEST_CASE("the end of one device leaves another's", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "2");
  Gpu second(1);
  std::vector<float> values(10, 3.f);
  CUdeviceptr memory = second.upload(values);
  {
    Gpu first(0);
  }
  second.enter();
  CHECK(second.download<float>(memory, 10) == values);
}

TEST_CASE("threads work on a device each, and on one", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "2");
  REQUIRE(cuInit(0) == 0);
  mlcEmulatorClearReport();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int device : {0, 1, 0, 1})
    threads.emplace_back([device, &wrong] { work(device, wrong); });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(std::string(mlcEmulatorReport()) == "");
}

TEST_CASE("a stream waits for another's event", "[devices]") {
  Variable devices("MLC_EMULATOR_DEVICES", "2");
  Gpu first(0), second(1);
  void *pinned = nullptr;
  REQUIRE(cuMemAllocHost_v2(&pinned, 4) == 0);
  CUevent event = nullptr;
  REQUIRE(cuEventCreate(&event, 2) == 0);
  const float value = 7;
  std::memcpy(pinned, &value, 4);
  CUdeviceptr from = second.allocate(4), to = second.allocate(4);
  for (bool waits : {false, true}) {
    REQUIRE(cuMemcpyHtoDAsync_v2(from, pinned, 4, first.stream) == 0);
    REQUIRE(cuEventRecord(event, first.stream) == 0);
    if (waits)
      REQUIRE(cuStreamWaitEvent(second.stream, event, 0) == 0);
    REQUIRE(cuMemcpyDtoDAsync_v2(to, from, 4, second.stream) == 0);
    CHECK((second.download<float>(to, 1)[0] == 7) == waits);
    REQUIRE(cuStreamSynchronize(first.stream) == 0);
    const std::vector<float> other(1, 1.f);
    REQUIRE(cuMemcpyHtoDAsync_v2(from, other.data(), 4, second.stream) == 0);
  }
  CHECK(cuStreamWaitEvent(second.stream, event, 1) == invalidValue);
  CHECK(cuStreamWaitEvent(second.stream, nullptr, 0) == invalidHandle);
  CUgraph graph = nullptr;
  REQUIRE(cuStreamBeginCapture_v2(second.stream, 1) == 0);
  CHECK(cuStreamWaitEvent(second.stream, event, 0) == captureUnsupported);
  CHECK(cuStreamEndCapture(second.stream, &graph) == 0);
  CHECK(cuGraphDestroy(graph) == 0);
  CHECK(cuEventDestroy_v2(event) == 0);
  CHECK(cuMemFreeHost(pinned) == 0);
}

TEST_CASE("a host's function is a part of a stream's work", "[devices]") {
  Gpu gpu;
  CUstream other = nullptr;
  CUevent before = nullptr, after = nullptr;
  REQUIRE(cuStreamCreate(&other, 1) == 0);
  REQUIRE(cuEventCreate(&before, 2) == 0);
  REQUIRE(cuEventCreate(&after, 2) == 0);
  CHECK(cuEventQuery(before) == 0); // not recorded: nothing to wait for
  const CUdeviceptr from = gpu.upload(std::vector<float>{3}),
                    to = gpu.allocate(4);
  // Adds what lies at `from`, on a stream of its own, while another thread has
  // to be able to call the driver.
  struct Work {
    CUdeviceptr from, to;
    CUcontext context;
    CUevent before;
    CUresult seen = -1;
  } work{from, to, nullptr, before};
  REQUIRE(cuDevicePrimaryCtxRetain(&work.context, 0) == 0);
  REQUIRE(cuEventRecord(before, gpu.stream) == 0);
  CHECK(cuEventQuery(before) == notReady);
  REQUIRE(cuStreamWaitEvent(other, before, 0) == 0);
  auto add = [](void *data) {
    auto &work = *static_cast<Work *>(data);
    std::thread([&work] {
      cuCtxSetCurrent(work.context);
      work.seen = cuEventQuery(work.before);
    }).join();
    *reinterpret_cast<float *>(work.to) =
        *reinterpret_cast<const float *>(work.from) + 1;
    mlcEmulatorAccess(work.to, 4, 1);
  };
  REQUIRE(cuLaunchHostFunc(other, add, &work) == 0);
  REQUIRE(cuEventRecord(after, other) == 0);
  REQUIRE(cuStreamWaitEvent(gpu.stream, after, 0) == 0);
  CHECK(cuEventQuery(after) == notReady);
  CHECK(gpu.download<float>(to, 1)[0] == 4);
  CHECK(work.seen == 0);
  CHECK(cuEventQuery(after) == 0);
  CHECK(cuLaunchHostFunc(other, nullptr, &work) == invalidValue);
  CHECK(cuEventQuery(nullptr) == invalidHandle);
  CHECK(std::string(mlcEmulatorReport()) == "");
  CHECK(mlcEmulatorAccess(to, 5000, 0) != 0);
  CHECK_THAT(mlcEmulatorReport(), Contains("a library reads 5000 bytes at an "
                                           "address where no allocation"));
  mlcEmulatorClearReport();
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
  CHECK(cuEventDestroy_v2(before) == 0);
  CHECK(cuEventDestroy_v2(after) == 0);
  CHECK(cuStreamDestroy_v2(other) == 0);
}

TEST_CASE("streams that threads wait for wait for each other", "[devices]") {
  Gpu gpu;
  CUstream other = nullptr;
  REQUIRE(cuStreamCreate(&other, 1) == 0);
  constexpr int rounds = 200;
  std::vector<CUevent> events(2 * rounds);
  for (CUevent &event : events)
    REQUIRE(cuEventCreate(&event, 2) == 0);
  // Each adds one to what the other has made, in turn.
  static int number;
  number = 0;
  auto add = [](void *step) {
    std::this_thread::yield();
    if (number == *static_cast<int *>(step))
      ++number;
  };
  std::vector<int> steps(2 * rounds);
  for (int i = 0; i < rounds; ++i) {
    for (int turn : {0, 1}) {
      CUstream stream = turn ? other : gpu.stream;
      const int step = steps[2 * i + turn] = 2 * i + turn;
      if (step)
        REQUIRE(cuStreamWaitEvent(stream, events[step - 1], 0) == 0);
      REQUIRE(cuLaunchHostFunc(stream, add, &steps[step]) == 0);
      REQUIRE(cuEventRecord(events[step], stream) == 0);
    }
  }
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (CUstream stream : {gpu.stream, other, gpu.stream})
    threads.emplace_back([&, stream] {
      failures += cuCtxSetCurrent(context) != 0;
      failures += cuStreamSynchronize(stream) != 0;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 0);
  CHECK(number == 2 * rounds);
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
  for (CUevent event : events)
    CHECK(cuEventDestroy_v2(event) == 0);
  CHECK(cuStreamDestroy_v2(other) == 0);
}

TEST_CASE("what cannot be understood of the environment is told", "[devices]") {
  struct Row {
    const char *name, *value, *expected;
  };
  for (const Row &row : {
           Row{"MLC_EMULATOR_ARCH", "sm_10", "sm_75 or later"},
           Row{"MLC_EMULATOR_ARCH", "volta", "sm_75 or later"},
           Row{"MLC_EMULATOR_DEVICES", "0", "a number from 1 to 16"},
           Row{"MLC_EMULATOR_DEVICES", "17", "a number from 1 to 16"},
           Row{"MLC_EMULATOR_DEVICES", "two", "a number from 1 to 16"},
           Row{"MLC_EMULATOR_SEED", "-1", "a number, 0"},
           Row{"MLC_EMULATOR_SEED", "3x", "a number, 0"},
           Row{"MLC_EMULATOR_SEED", "99999999999999999999", "a number, 0"},
           Row{"MLC_EMULATOR_CHECKS", "off", "0 or 1"},
       }) {
    Variable variable(row.name, row.value);
    mlcEmulatorClearReport();
    CHECK(cuInit(0) == mlc::emulator::MLC_ERROR_ENVIRONMENT);
    const char *text = nullptr;
    REQUIRE(cuGetErrorString(mlc::emulator::MLC_ERROR_ENVIRONMENT, &text) == 0);
    CHECK_THAT(text, Contains(std::string(row.name) + " is '" + row.value +
                              "'; expected " + row.expected));
    CHECK_THAT(mlcEmulatorReport(), Contains(text));
  }
  for (const char *failures :
       {"garbage", "cuMemAlloc_v2", "cuMemAlloc_v2:", "cuMemAlloc_v2:0",
        "cuMemAlloc_v2:x", "cuMemAlloc_v2:1=", "cuMemAlloc_v2:1=no",
        "cuMemAlloc_v2:1=0", ":1", "cuInit:1,,cuInit:2"}) {
    mlcEmulatorClearReport();
    mlcEmulatorFail(failures);
    CHECK_THAT(mlcEmulatorReport(),
               Contains("names no call that shall fail; expected"));
  }
  mlcEmulatorClearReport();
  CHECK(cuInit(0) == 0);
  CHECK(std::string(mlcEmulatorReport()) == "");
}
