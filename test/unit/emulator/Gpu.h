//===- Gpu.h - A device for tests, by the driver's functions ----*- C++ -*-===//

#ifndef MLC_TEST_UNIT_EMULATOR_GPU_H
#define MLC_TEST_UNIT_EMULATOR_GPU_H

#include "runtime/emulator/Cuda.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace mlc::test {

/// Sets a variable of the environment as long as it lives.
class Variable {
public:
  Variable(const char *name, const std::string &value) : name(name) {
    const char *old = std::getenv(name);
    wasSet = old != nullptr;
    before = old ? old : "";
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (wasSet)
      setenv(name, before.c_str(), 1);
    else
      unsetenv(name);
  }

private:
  const char *name;
  bool wasSet;
  std::string before;
};

/// Context, stream and all that a test makes; takes it down without a leak.
class Gpu {
public:
  explicit Gpu(int number = 0) : number(number) {
    REQUIRE(cuInit(0) == 0);
    REQUIRE(cuDevicePrimaryCtxRetain(&context, number) == 0);
    enter();
    REQUIRE(cuStreamCreate(&stream, 1) == 0);
    mlcEmulatorClearReport();
  }
  ~Gpu() {
    enter();
    for (CUdeviceptr memory : allocations)
      cuMemFree_v2(memory);
    for (CUmodule module : modules)
      cuModuleUnload(module);
    cuStreamDestroy_v2(stream);
    mlcEmulatorClearReport();
    cuDevicePrimaryCtxRelease_v2(number);
    CHECK(std::string(mlcEmulatorReport()) == "");
  }

  /// Makes the device the calling thread's, where there are several.
  void enter() { REQUIRE(cuCtxSetCurrent(context) == 0); }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr memory = 0;
    REQUIRE(cuMemAlloc_v2(&memory, bytes) == 0);
    allocations.push_back(memory);
    return memory;
  }
  template <typename T> CUdeviceptr upload(const std::vector<T> &values) {
    size_t bytes = values.size() * sizeof(T);
    CUdeviceptr memory = allocate(bytes);
    REQUIRE(cuMemcpyHtoDAsync_v2(memory, values.data(), bytes, stream) == 0);
    return memory;
  }
  template <typename T> std::vector<T> download(CUdeviceptr from, size_t n) {
    std::vector<T> values(n);
    REQUIRE(cuMemcpyDtoHAsync_v2(values.data(), from, n * sizeof(T), stream) ==
            0);
    REQUIRE(cuStreamSynchronize(stream) == 0);
    return values;
  }

  /// The kernel `k` of a source, of which the first line is left out.
  CUfunction kernel(const std::string &source) {
    std::string text = "#include \"mlc_device.cuh\"\n" + source;
    CUmodule module = nullptr;
    REQUIRE(cuModuleLoadData(&module, text.c_str()) == 0);
    modules.push_back(module);
    CUfunction function = nullptr;
    REQUIRE(cuModuleGetFunction(&function, module, "k") == 0);
    return function;
  }

  struct Shape {
    unsigned grid, block, shared = 0;
  };
  /// Runs to the end; the launch's error or that of what it did.
  CUresult launch(CUfunction function, Shape shape,
                  std::vector<unsigned long long> words) {
    // A tensor map begins with the emulator's mark.
    std::vector<void *> parameters;
    for (size_t i = 0; i < words.size();
         i += words[i] == 0x70616d2d636c6d21 ? 16 : 1)
      parameters.push_back(&words[i]);
    CUresult error =
        cuLaunchKernel(function, shape.grid, 1, 1, shape.block, 1, 1,
                       shape.shared, stream, parameters.data(), nullptr);
    return error ? error : cuStreamSynchronize(stream);
  }

  /// What has been found; forgets it.
  std::string report() {
    std::string text = mlcEmulatorReport();
    mlcEmulatorClearReport();
    return text;
  }

  CUstream stream = nullptr;

private:
  int number;
  CUcontext context = nullptr;
  std::vector<CUdeviceptr> allocations;
  std::vector<CUmodule> modules;
};

/// Calls `test` in the plain order and in some others.
template <typename Test> void underSeeds(Test test) {
  for (const char *seed : {"0", "1", "2", "3", "4"}) {
    INFO("seed " << seed);
    Variable variable("MLC_EMULATOR_SEED", seed);
    test();
  }
}

} // namespace mlc::test

#endif // MLC_TEST_UNIT_EMULATOR_GPU_H
