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
#include "runtime/cuda/Gpu.h"

namespace mlc::runtime::cuda {

class CudaDevice final : public Device {
public:
  /// Opens GPU number `ordinal` as `name`. `driver` must outlive it.
  static Status open(const Driver &driver, int ordinal, const std::string &name,
                     DeviceKind kind, std::unique_ptr<CudaDevice> &device);

  const char *name() const override { return opened.name.c_str(); }
  /// Decided by the name: "emulator" is not a GPU of the driver that other
  /// libraries load.
  int gpu() const override {
    return opened.name.compare(0, 5, "cuda:") == 0 ? opened.device : -1;
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

  /// Makes the context the calling thread's.
  Status enter() const { return opened.enter(); }

private:
  CudaDevice(const Driver &driver, std::string name, DeviceKind kind)
      : opened(driver, std::move(name), kind) {}

  Gpu opened;
};

} // namespace mlc::runtime::cuda

#endif // MLC_RUNTIME_CUDA_CUDADEVICE_H
