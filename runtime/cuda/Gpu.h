//===- Gpu.h - A GPU and its context ----------------------------*- C++ -*-===//
//
// What a device and its queues need of the driver: that they share it is why it
// is neither's.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_GPU_H
#define MLC_RUNTIME_CUDA_GPU_H

#include "runtime/cuda/Driver.h"

namespace mlc::runtime::cuda {

enum class DeviceKind { Gpu, Emulator };

class Gpu {
public:
  /// Called `name`, for messages. `driver` outlives it.
  Gpu(const Driver &driver, std::string name, DeviceKind kind)
      : driver(driver), name(std::move(name)), kind(kind) {}
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  /// Before all else: takes the one with this number.
  Status open(int ordinal);

  /// Makes the context current on the calling thread, as the driver requires
  /// before other calls.
  Status enter() const {
    return driver.check(driver.cuCtxSetCurrent(context),
                        "cannot use the GPU's context");
  }

  bool isEmulator() const { return kind == DeviceKind::Emulator; }
  /// "NVIDIA H100 80GB HBM3, sm_90"
  std::string describe() const { return product + ", " + architecture(); }
  /// What to compile for: on 9.0 code that runs there alone, and faster.
  std::string targetName() const {
    return "cuda:" + architecture() + (major == 9 && minor == 0 ? "a" : "");
  }

  const Driver &driver;
  const std::string name;
  const DeviceKind kind;
  unsigned major = 0, minor = 0;
  unsigned multiprocessors = 0;
  /// The most bytes of shared memory of a block.
  int64_t maxShared = 0;
  /// "driver 12.4", for messages.
  std::string driverText;
  /// Whether launches may begin before the one in front has ended, and graphs
  /// record that: 9.0 with a driver for CUDA 12.3 or later.
  bool overlapsLaunches = false;
  CUdevice device = 0;
  /// The primary one.
  CUcontext context = nullptr;

private:
  std::string architecture() const {
    return "sm_" + std::to_string(major) + std::to_string(minor);
  }

  std::string product;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_GPU_H
