//===- Devices.h - The devices of a process ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_DEVICES_H
#define MLC_RUNTIME_DEVICES_H

#include "runtime/Device.h"

namespace mlc::runtime {

/// The devices that this process has from its begin; the first is the default.
const std::vector<Device *> &devices();

/// Adds a device that stays until the process ends. For libraries that bring
/// one, before anything else of the runtime is used.
void addDevice(Device &device);

/// The device called `name` (null: the first), also one that is looked for when
/// it is asked for (CudaDevices.h). MLC_DEVICE for one that this machine has
/// not, MLC_USAGE for other names.
Status findDevice(const char *name, Device *&device);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_DEVICES_H
