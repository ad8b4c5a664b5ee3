//===- CudaDevice.h - A GPU as a device -------------------------*- C++ -*-===//
//
// Written against a table of the driver's functions (Driver.h): whether these
// are NVIDIA's or the emulator's is no matter here, but for the code images
// that it takes.
//
// All sessions share the GPU's primary context, which other CUDA libraries of
// the process use too.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDA_CUDADEVICE_H
#define MLC_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/Device.h"
#include "runtime/cuda/Driver.h"

#include <atomic>

namespace mlc::runtime::cuda {

/// What the handle of a kernel points at.
struct CudaKernel {
  CUfunction function = nullptr;
  std::string name;
  /// Whether it may have more shared memory than any kernel has.
  mutable std::atomic<bool> hasMuchShared{false};
};

enum class DeviceKind { Gpu, Emulator };

class CudaDevice final : public Device {
public:
  /// The GPU with the number `ordinal`, which is called `name`. `driver`
  /// outlives it.
  static Status open(const Driver &driver, int ordinal, const std::string &name,
                     DeviceKind kind, std::unique_ptr<CudaDevice> &device);
  ~CudaDevice() override;

  const char *name() const override { return deviceName.c_str(); }
  /// By its name: the emulator under its own is no GPU of the driver that
  /// other libraries load.
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

  /// Makes the context the calling thread's, as the driver wants it before
  /// anything else.
  Status enter() const {
    return driver.check(driver.cuCtxSetCurrent(context),
                        "cannot use the GPU's context");
  }

  bool isEmulator() const { return kind == DeviceKind::Emulator; }
  CUcontext primaryContext() const { return context; }

  const Driver &driver;
  unsigned multiprocessors = 0;
  /// Bytes of shared memory that a block can have.
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
