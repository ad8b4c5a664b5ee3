//===- Gpu.cpp - A GPU and its context ------------------------------------===//

#include "runtime/cuda/Gpu.h"

namespace mlc::runtime::cuda {

Status Gpu::open(int ordinal) {
  int count = 0, version = 0, blocks = 0, shared = 0, high = 0, low = 0;
  char text[100] = "";
  Status status =
      driver.check(driver.cuDeviceGetCount(&count), "cannot count the GPUs");
  if (status.ok() && ordinal >= count)
    return Status::error(
        MLC_DEVICE,
        "there is no device '" + name +
            (isEmulator() ? "'; the emulator has " : "'; this machine has ") +
            std::to_string(count) + (count == 1 ? " GPU" : " GPUs") +
            (isEmulator() ? ", as MLC_EMULATOR_DEVICES says" : ""));
  auto ask = [&](CUresult (*get)(int *, CUdevice_attribute, CUdevice),
                 CUdevice_attribute attribute, int &value) {
    if (status.ok())
      status = driver.check(get(&value, attribute, device),
                            "cannot ask the GPU for its properties");
  };
  if (status.ok())
    status = driver.check(driver.cuDriverGetVersion(&version),
                          "cannot ask the driver for its version");
  if (status.ok())
    status = driver.check(driver.cuDeviceGet(&device, ordinal),
                          "cannot open the GPU");
  if (status.ok())
    status =
        driver.check(driver.cuDeviceGetName(text, sizeof(text) - 1, device),
                     "cannot ask the GPU for its name");
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      blocks);
  ask(driver.cuDeviceGetAttribute,
      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared);
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      high);
  ask(driver.cuDeviceGetAttribute, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
      low);
  if (status.ok())
    status = driver.check(driver.cuDevicePrimaryCtxRetain(&context, device),
                          "cannot make a context on the GPU");
  multiprocessors = blocks > 0 ? blocks : 1;
  maxShared = shared;
  major = high;
  minor = low;
  product = text;
  overlapsLaunches = major >= 9 && version >= 12030 && driver.cuLaunchKernelEx;
  driverText = "driver " + std::to_string(version / 1000) + "." +
               std::to_string(version % 1000 / 10);
  return status;
}

Gpu::~Gpu() {
  if (context)
    (void)driver.cuDevicePrimaryCtxRelease_v2(device);
}

} // namespace mlc::runtime::cuda
