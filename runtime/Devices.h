//===- Devices.h - The devices of a process ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_DEVICES_H
#define MLC_RUNTIME_DEVICES_H

#include "runtime/Device.h"

namespace mlc::runtime {

/// The devices that this process has from the start; the first is the default.
const std::vector<Device *> &devices();

/// Adds a device, which must live until the process ends. Libraries with a
/// device call it before any other use of the runtime.
void addDevice(Device &device);

/// Finds the device called `name` (null: the first), among those of
/// CudaDevices.h too. MLC_DEVICE if this machine lacks it, MLC_USAGE for
/// unknown names.
Status findDevice(const char *name, Device *&device);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_DEVICES_H
