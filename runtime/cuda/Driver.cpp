//===- Driver.cpp - The functions of CUDA's driver ------------------------===//

#include "runtime/cuda/Driver.h"

#include <dlfcn.h>

namespace mlc::runtime::cuda {

Status Driver::load(const char *library, const char *remedy) {
  auto lacks = [&](const std::string &what) {
    return Status::error(MLC_DEVICE, what + "; " + remedy);
  };
  // Never closed: devices and their objects live until the process ends.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    return lacks("cannot load " + std::string(text ? text : library));
  }
  std::string missing;
  auto take = [&](auto &function, const char *name, bool isOptional) {
    function =
        reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    if (!function && !isOptional && missing.empty())
      missing = name;
  };
#define MLC_CUDA_DRIVER_LOOKUP(name, parameters) take(name, #name, false);
  MLC_CUDA_DRIVER_FUNCTIONS(MLC_CUDA_DRIVER_LOOKUP)
#undef MLC_CUDA_DRIVER_LOOKUP
#define MLC_CUDA_DRIVER_LOOKUP(name, parameters) take(name, #name, true);
  MLC_CUDA_DRIVER_OPTIONAL_FUNCTIONS(MLC_CUDA_DRIVER_LOOKUP)
#undef MLC_CUDA_DRIVER_LOOKUP
  isEmulator = dlsym(handle, "mlcEmulatorReport") != nullptr;
  if (!missing.empty())
    return lacks(std::string(library) + " has no function " + missing);
  return Status::success();
}

Status Driver::initialize(const char *remedy) {
  CUresult result = cuInit(0);
  if (!result)
    return Status::success();
  return Status::error(MLC_DEVICE,
                       "the driver cannot be used: " + describe(result) +
                           (*remedy ? "; " : "") + remedy);
}

std::string Driver::describe(CUresult result) const {
  std::string text = "CUDA error " + std::to_string(result);
  const char *name = nullptr, *meaning = nullptr;
  if (cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
    text += " (" + std::string(name) + ")";
  if (cuGetErrorString(result, &meaning) == CUDA_SUCCESS && meaning)
    text += ": " + std::string(meaning);
  return text;
}

Status Driver::error(CUresult result, const std::string &what) const {
  return Status::error(result == CUDA_ERROR_OUT_OF_MEMORY ? MLC_RESOURCES
                                                          : MLC_DEVICE,
                       what + ": " + describe(result));
}

} // namespace mlc::runtime::cuda
