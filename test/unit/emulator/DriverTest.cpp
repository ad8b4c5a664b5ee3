//===- DriverTest.cpp - The driver's functions, and misuse of them --------===//

#include "Gpu.h"

#include <dirent.h>
#include <thread>
#include <unistd.h>

using namespace mlc::test;
using Catch::Contains;

namespace {

constexpr CUresult invalidValue = 1, outOfMemory = 2, invalidImage = 200,
                   invalidContext = 201, noCompiler = 221, invalidSource = 300,
                   invalidHandle = 400, notFound = 500, notReady = 600,
                   unknown = 999;

const char *const setKernel = "MLC_KERNEL(k)(int *out, long long value) { "
                              "out[threadIdx.x] = int(value); }";

template <typename T> T bad() {
  static int something[16];
  return reinterpret_cast<T>(something);
}

/// A folder for compiled kernels that is gone with the test.
class CacheFolder {
public:
  ~CacheFolder() {
    for (const std::string &name : files())
      unlink((folder() + name).c_str());
    for (const char *part : {"/mlc/emulator", "/mlc", ""})
      rmdir((path + part).c_str());
  }
  std::string folder() const { return path + "/mlc/emulator/"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    if (DIR *entries = opendir(folder().c_str())) {
      while (dirent *entry = readdir(entries))
        if (entry->d_name[0] != '.')
          names.emplace_back(entry->d_name);
      closedir(entries);
    }
    return names;
  }

private:
  static std::string make() {
    char name[] = "/tmp/mlc-emulator-XXXXXX";
    REQUIRE(mkdtemp(name));
    return name;
  }
  const std::string path = make();
  Variable variable{"XDG_CACHE_HOME", path};
};

} // namespace

TEST_CASE("the device says what it is", "[driver]") {
  Gpu gpu;
  int value = 0;
  CHECK(cuDriverGetVersion(&value) == 0);
  CHECK(value >= 12000);
  CHECK(cuDeviceGetCount(&value) == 0);
  CHECK(value == 1);
  CHECK(cuDeviceGet(&value, 1) == 101);
  char name[64];
  CHECK(cuDeviceGetName(name, sizeof(name), 0) == 0);
  CHECK_THAT(name, Contains("emulator"));
  struct {
    int attribute, value;
  } rows[] = {{1, 1024}, {8, 48 << 10}, {10, 32},       {16, 4},
              {75, 9},   {76, 0},       {97, 227 << 10}};
  for (auto &row : rows) {
    INFO(row.attribute);
    CHECK(cuDeviceGetAttribute(&value, row.attribute, 0) == 0);
    CHECK(value == row.value);
  }
  CHECK(cuDeviceGetAttribute(&value, 12345, 0) == invalidValue);
  {
    Variable architecture("MLC_EMULATOR_ARCH", "sm_86");
    CHECK(cuDeviceGetAttribute(&value, 76, 0) == 0);
    CHECK(value == 6);
    CHECK(cuDeviceGetAttribute(&value, 97, 0) == 0);
    CHECK(value == 99 << 10);
  }
  {
    Variable architecture("MLC_EMULATOR_ARCH", "sm_70");
    CHECK(cuInit(0) == mlc::emulator::MLC_ERROR_ENVIRONMENT);
    CHECK_THAT(gpu.report(), Contains("MLC_EMULATOR_ARCH is 'sm_70'"));
  }
  const char *text = nullptr;
  CHECK(cuGetErrorName(700, &text) == 0);
  CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(cuGetErrorString(2, &text) == 0);
  CHECK(std::string(text) == "out of memory");
  CHECK(cuGetErrorName(123456, &text) == invalidValue);
}

TEST_CASE("memory, rightly and wrongly", "[driver]") {
  Gpu gpu;
  CUdeviceptr a = 0, b = 0;
  CHECK(cuMemAlloc_v2(&a, 0) == invalidValue);
  CHECK(cuMemAlloc_v2(nullptr, 8) == invalidValue);
  CHECK(cuMemAlloc_v2(&a, size_t(1) << 50) == outOfMemory);
  CHECK(cuMemAlloc_v2(&a, 10) == 0);
  CHECK(cuMemAlloc_v2(&b, 10) == 0);
  CHECK(a % 256 == 0);
  char text[16] = "123456789", back[16] = "";
  CHECK(cuMemcpyHtoDAsync_v2(a, text, 10, gpu.stream) == 0);
  CHECK(cuMemcpyHtoDAsync_v2(a, text, 11, gpu.stream) == invalidValue);
  CHECK(cuMemcpyHtoDAsync_v2(a + 1, text, 10, gpu.stream) == invalidValue);
  CHECK(cuMemcpyHtoDAsync_v2(a, nullptr, 10, gpu.stream) == invalidValue);
  CHECK(cuMemcpyHtoDAsync_v2(a, text, 10, bad<CUstream>()) == invalidHandle);
  CHECK(cuMemcpyDtoDAsync_v2(b + 1, a + 1, 9, gpu.stream) == 0);
  CHECK(cuMemcpyDtoDAsync_v2(b + 1, a, 10, gpu.stream) == invalidValue);
  CHECK(cuMemcpyDtoHAsync_v2(back, b + 1, 9, gpu.stream) == 0);
  CHECK(cuMemcpyDtoHAsync_v2(back, b - 1, 9, gpu.stream) == invalidValue);
  CHECK(std::string(back) == "23456789");
  CHECK(cuMemFree_v2(a + 1) == invalidValue);
  CHECK(cuMemFree_v2(a) == 0);
  CHECK(cuMemFree_v2(a) == invalidValue);
  CHECK(cuMemFree_v2(0) == 0);
  CHECK(cuMemcpyHtoDAsync_v2(a, text, 1, gpu.stream) == invalidValue);
  CHECK(cuMemFree_v2(b) == 0);
  void *host = nullptr;
  CHECK(cuMemAllocHost_v2(&host, 100) == 0);
  CHECK(cuMemFreeHost(static_cast<char *>(host) + 1) == invalidValue);
  CHECK(cuMemFreeHost(host) == 0);
  CHECK(cuMemFreeHost(host) == invalidValue);
}

TEST_CASE("copies of pinned memory wait for their turn", "[driver]") {
  Gpu gpu;
  void *memory = nullptr;
  REQUIRE(cuMemAllocHost_v2(&memory, 8) == 0);
  int *pinned = static_cast<int *>(memory), plain = 1;
  CUdeviceptr a = gpu.allocate(4), b = gpu.allocate(4);
  pinned[0] = 1;
  pinned[1] = 0;
  CHECK(cuMemcpyHtoDAsync_v2(a, pinned, 4, gpu.stream) == 0);
  CHECK(cuMemcpyHtoDAsync_v2(b, &plain, 4, gpu.stream) == 0);
  // Too early for one, of no matter for the other.
  pinned[0] = plain = 2;
  CHECK(cuMemcpyDtoHAsync_v2(pinned + 1, a, 4, gpu.stream) == 0);
  CHECK(pinned[1] == 0);
  CHECK(cuStreamSynchronize(gpu.stream) == 0);
  CHECK(pinned[1] == 2);
  CHECK(gpu.download<int>(b, 1)[0] == 1);
  CHECK(cuMemFreeHost(memory) == 0);
}

TEST_CASE("streams and events", "[driver]") {
  Gpu gpu;
  CUevent start = nullptr, end = nullptr;
  CUstream other = nullptr;
  REQUIRE(cuEventCreate(&start, 0) == 0);
  REQUIRE(cuEventCreate(&end, 0) == 0);
  REQUIRE(cuStreamCreate(&other, 1) == 0);
  CUfunction set = gpu.kernel(setKernel);
  CUdeviceptr out = gpu.allocate(128);
  unsigned long long words[] = {out, 7};
  size_t bytes = sizeof(words);
  void *extra[] = {reinterpret_cast<void *>(1), words,
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  CHECK(cuEventSynchronize(start) == 0);
  CHECK(cuEventRecord(start, other) == 0);
  CHECK(cuLaunchKernel(set, 1, 1, 1, 32, 1, 1, 0, other, nullptr, extra) == 0);
  CHECK(cuEventRecord(end, other) == 0);
  float took = -1;
  CHECK(cuEventElapsedTime(&took, start, end) == notReady);
  CHECK(cuEventSynchronize(end) == 0);
  CHECK(cuEventElapsedTime(&took, start, end) == 0);
  CHECK(took > 0);
  CHECK(gpu.download<int>(out, 32) == std::vector<int>(32, 7));
  CHECK(cuEventDestroy_v2(start) == 0);
  CHECK(cuEventDestroy_v2(start) == invalidHandle);
  CHECK(cuEventRecord(start, other) == invalidHandle);
  CHECK(cuEventDestroy_v2(end) == 0);
  CHECK(cuStreamDestroy_v2(other) == 0);
  CHECK(cuStreamDestroy_v2(other) == invalidHandle);
  CHECK(cuStreamSynchronize(other) == invalidHandle);
}

TEST_CASE("launches that cannot be", "[driver]") {
  Gpu gpu;
  CUfunction set = gpu.kernel(setKernel);
  CUdeviceptr out = gpu.allocate(4096);
  auto launch = [&](Gpu::Shape shape) {
    return gpu.launch(set, shape, {out, 1});
  };
  CHECK(launch({1, 1024}) == 0);
  CHECK(launch({1, 1025}) == invalidValue);
  CHECK(launch({0, 32}) == invalidValue);
  CHECK(launch({1, 0}) == invalidValue);
  // More shared memory than was asked for.
  CHECK(launch({1, 32, 48 << 10}) == 0);
  CHECK(launch({1, 32, (48 << 10) + 1}) == invalidValue);
  CHECK(cuFuncSetAttribute(set, 8, (227 << 10) + 1) == invalidValue);
  CHECK(cuFuncSetAttribute(set, 8, 227 << 10) == 0);
  CHECK(launch({1, 32, 227 << 10}) == 0);
  CHECK(cuFuncSetAttribute(bad<CUfunction>(), 8, 1) == invalidHandle);
  unsigned long long value = 1;
  void *parameters[] = {&out, &value};
  CHECK(cuLaunchKernel(bad<CUfunction>(), 1, 1, 1, 1, 1, 1, 0, gpu.stream,
                       nullptr, nullptr) == invalidHandle);
  size_t bytes = 7;
  void *extra[] = {reinterpret_cast<void *>(1), static_cast<void *>(parameters),
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  CHECK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu.stream, nullptr, extra) ==
        invalidValue);
  // Parameters come one way or the other.
  bytes = 16;
  CHECK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu.stream, parameters,
                       extra) == invalidValue);
  parameters[1] = nullptr;
  CHECK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu.stream, parameters,
                       nullptr) == invalidValue);
}

TEST_CASE("parameters may be smaller than a word", "[driver]") {
  Gpu gpu;
  CUfunction set = gpu.kernel(
      "MLC_KERNEL(k)(int *out, char a, int b, short c) { *out = a + b + c; }");
  CUdeviceptr out = gpu.allocate(4);
  char a = 1;
  int b = 200000;
  short c = 3000;
  void *parameters[] = {&out, &a, &b, &c};
  CHECK(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu.stream, parameters,
                       nullptr) == 0);
  CHECK(cuStreamSynchronize(gpu.stream) == 0);
  CHECK(gpu.download<int>(out, 1)[0] == 203001);
}

TEST_CASE("after an error a stream goes on", "[driver]") {
  Gpu gpu;
  CUfunction set = gpu.kernel(setKernel);
  CUdeviceptr out = gpu.allocate(64);
  CHECK(gpu.launch(set, {1, 17}, {out, 1}) == 700);
  CHECK_THAT(gpu.report(), Contains("out of bounds"));
  CHECK(cuStreamSynchronize(gpu.stream) == 0);
  CHECK(gpu.launch(set, {1, 16}, {out, 2}) == 0);
  CHECK(gpu.download<int>(out, 16) == std::vector<int>(16, 2));
}

TEST_CASE("sources that are none", "[driver]") {
  Gpu gpu;
  CUmodule module = nullptr;
  auto load = [&](const char *text) { return cuModuleLoadData(&module, text); };
  CHECK(load(".version 8.0") == invalidImage);
  CHECK_THAT(gpu.report(), Contains("#include \"mlc_device.cuh\""));
  CHECK(load("#include \"mlc_device.cuh\"\nMLC_KERNEL(k)(int *x) { y = 1; }") ==
        invalidSource);
  CHECK_THAT(gpu.report(), Contains("undeclared identifier 'y'"));
  // Neither headers nor functions of other libraries.
  CHECK(load("#include \"mlc_device.cuh\"\n#include <vector>\n") ==
        invalidSource);
  CHECK_THAT(gpu.report(), Contains("'vector' file not found"));
  CHECK(load("#include \"mlc_device.cuh\"\nextern \"C\" int unknown();\n"
             "MLC_KERNEL(k)(int *x) { *x = unknown(); }") == invalidSource);
  CHECK_THAT(gpu.report(), Contains("unknown"));
  CHECK(load(nullptr) == invalidValue);
  CUfunction function = nullptr;
  CHECK(cuModuleGetFunction(&function, bad<CUmodule>(), "k") == invalidHandle);
  std::string text = std::string("#include \"mlc_device.cuh\"\n") + setKernel;
  REQUIRE(load(text.c_str()) == 0);
  CHECK(cuModuleGetFunction(&function, module, "other") == notFound);
  CHECK(cuModuleGetFunction(&function, module, "expf") == notFound);
  CHECK(cuModuleGetFunction(&function, module, "k") == 0);
  CHECK(cuModuleUnload(module) == 0);
  CHECK(cuModuleUnload(module) == invalidHandle);
  CHECK(gpu.launch(function, {1, 1}, {}) == invalidHandle);
}

TEST_CASE("without a compiler", "[driver]") {
  Gpu gpu;
  Variable compiler("MLC_EMULATOR_CXX", "/nowhere/clang++");
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, "#include \"mlc_device.cuh\"\n") ==
        noCompiler);
  CHECK_THAT(gpu.report(), Contains("MLC_EMULATOR_CXX is /nowhere/clang++"));
}

TEST_CASE("compiled kernels are kept", "[driver]") {
  CacheFolder cache;
  Gpu gpu;
  gpu.kernel(setKernel);
  // The source and the code; nothing else is left.
  CHECK(cache.files().size() == 3);
  gpu.kernel(setKernel);
  CHECK(cache.files().size() == 3);
  {
    Variable off("MLC_EMULATOR_CHECKS", "0");
    gpu.kernel(setKernel);
  }
  CHECK(cache.files().size() == 6);
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, "#include \"mlc_device.cuh\"\nx") ==
        invalidSource);
  CHECK(cache.files().size() == 6);
  gpu.report();
}

TEST_CASE("many compile the same at once", "[driver]") {
  CacheFolder cache;
  Gpu gpu;
  CUcontext context = nullptr;
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  std::string text = std::string("#include \"mlc_device.cuh\"\n") + setKernel;
  CUmodule modules[4] = {};
  CUresult errors[4] = {1, 1, 1, 1};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      cuCtxSetCurrent(context);
      errors[i] = cuModuleLoadData(&modules[i], text.c_str());
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 4; ++i) {
    CHECK(errors[i] == 0);
    CHECK(cuModuleUnload(modules[i]) == 0);
  }
  CHECK(cache.files().size() == 3);
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
}

TEST_CASE("calls fail where they are told to", "[driver]") {
  Gpu gpu;
  CUdeviceptr a = 0;
  mlcEmulatorFail("cuMemAlloc_v2:2,cuStreamSynchronize:1,cuMemFree_v2:2=700");
  CHECK(cuMemAlloc_v2(&a, 4) == 0);
  CHECK(cuMemFree_v2(a) == 0);
  CHECK(cuMemAlloc_v2(&a, 4) == outOfMemory);
  CHECK(cuMemAlloc_v2(&a, 4) == 0);
  CHECK(cuStreamSynchronize(gpu.stream) == unknown);
  CHECK(cuStreamSynchronize(gpu.stream) == 0);
  CHECK(cuMemFree_v2(a) == 700);
  CHECK(cuMemFree_v2(a) == 0);
  mlcEmulatorFail("");
}

TEST_CASE("what is left at the end is reported", "[driver]") {
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  REQUIRE(cuInit(0) == 0);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == 0);
  REQUIRE(cuCtxSetCurrent(context) == 0);
  REQUIRE(cuMemAlloc_v2(&memory, 40) == 0);
  REQUIRE(cuStreamCreate(&stream, 0) == 0);
  mlcEmulatorClearReport();
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == 0);
  CHECK_THAT(mlcEmulatorReport(), Contains("leak") &&
                                      Contains("1 allocations, 1 streams") &&
                                      Contains("bytes: 40"));
  mlcEmulatorClearReport();
  // Nothing goes without a context.
  CHECK(cuMemAlloc_v2(&memory, 40) == invalidContext);
  CHECK(cuCtxSetCurrent(context) == invalidContext);
  CHECK(cuDevicePrimaryCtxRelease_v2(0) == invalidContext);
}

TEST_CASE("each thread needs the context", "[driver]") {
  Gpu gpu;
  std::thread([] {
    CUdeviceptr memory = 0;
    CHECK(cuMemAlloc_v2(&memory, 4) == invalidContext);
  }).join();
}
