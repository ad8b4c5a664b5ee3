//===- CudaDevices.h - GPUs and their emulator by name ----------*- C++ -*-===//
//
// Devices that are looked up when one is asked for by name, so that the process
// does not load CUDA's driver before. runtime/cuda defines the functions.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CUDADEVICES_H
#define MLC_RUNTIME_CUDADEVICES_H

#include "runtime/Status.h"

namespace mlc::runtime {

class Device;

/// Whether `name` is "cuda", "cuda:N" or "emulator".
bool isCudaName(const char *name);

/// Finds the device with such a name, the same in every call; "cuda" is
/// "cuda:0". MLC_DEVICE if this machine has none.
Status findCudaDevice(const char *name, Device *&device);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CUDADEVICES_H
