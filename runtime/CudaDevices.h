//===- CudaDevices.h - GPUs and their emulator by name ----------*- C++ -*-===//
//
// Devices that are looked for when somebody asks for one by name: until then
// the process does not load CUDA's driver. runtime/cuda defines the functions.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDADEVICES_H
#define MLC_RUNTIME_CUDADEVICES_H

#include "runtime/Status.h"

namespace mlc::runtime {

class Device;

/// Whether `name` is "cuda", "cuda:N" or "emulator".
bool isCudaName(const char *name);

/// The device with such a name, the same for every call; "cuda" is "cuda:0".
/// MLC_DEVICE where this machine has none.
Status findCudaDevice(const char *name, Device *&device);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CUDADEVICES_H
