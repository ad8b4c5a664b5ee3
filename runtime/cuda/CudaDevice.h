//===- CudaDevice.h - A GPU as a device -------------------------*- C++ -*-===//
//
// Uses a table of the driver's functions (Driver.h), NVIDIA's or the
// emulator's. Only the accepted code images differ between the two.
//
// All sessions share the GPU's primary context with other CUDA libraries of the
// process.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_CUDADEVICE_H
#define MLC_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include <atomic>

namespace mlc::runtime::cuda {

/// The target of a KernelHandle.
struct CudaKernel {
  CUfunction function = nullptr;
  std::string name;
  /// Whether it was granted more shared memory than the default.
  mutable std::atomic<bool> hasMuchShared{false};
};

enum class DeviceKind { Gpu, Emulator };

class CudaDevice final : public Device {
public:
  /// Opens GPU number `ordinal` as `name`. `driver` must outlive it.
  static Status open(const Driver &driver, int ordinal, const std::string &name,
                     DeviceKind kind, std::unique_ptr<CudaDevice> &device);
  ~CudaDevice() override;

  const char *name() const override { return deviceName.c_str(); }
  /// Decided by the name: "emulator" is not a GPU of the driver that other
  /// libraries load.
  int gpu() const override {
    return deviceName.compare(0, 5, "cuda:") == 0 ? device : -1;
  }
  bool usesHostMemory() const override { return false; }
  Status allocate(uint64_t bytes, void *&memory, uint64_t &capacity) override;
  void free(void *memory, uint64_t capacity) override;
  std::string reasonAgainst(const CodeImage &image) const override;
  std::string targetName() const override;
  Status load(const CodeImage &image,
              std::unique_ptr<LoadedCode> &code) override;
  Status open(const QueueOptions &options,
              std::unique_ptr<Queue> &queue) override;

  /// Makes the context current on the calling thread, as the driver requires
  /// before other calls.
  Status enter() const {
    return driver.check(driver.cuCtxSetCurrent(context),
                        "cannot use the GPU's context");
  }

  bool isEmulator() const { return kind == DeviceKind::Emulator; }
  CUcontext primaryContext() const { return context; }

  const Driver &driver;
  unsigned multiprocessors = 0;
  /// The most bytes of shared memory of a block.
  int64_t maxShared = 0;
  /// "driver 12.4", for messages.
  std::string driverText;

private:
  CudaDevice(const Driver &driver, std::string name, DeviceKind kind)
      : driver(driver), deviceName(std::move(name)), kind(kind) {}

  Status initialize(int ordinal);
  std::string describe() const;

  std::string deviceName;
  DeviceKind kind;
  /// "NVIDIA H100 80GB HBM3"
  std::string product;
  unsigned major = 0, minor = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_CUDADEVICE_H
