//===- Device.h - The devices of this build ---------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_DEVICE_H
#define MLC_RUNTIME_DEVICE_H

#include "runtime/Status.h"

#include <vector>

namespace mlc::runtime {

/// Names as the C ABI gives them; the first is the default.
const std::vector<const char *> &deviceNames();

/// Whether there is a device called `name` (null: the first). MLC_DEVICE for
/// one of a kind that other builds may have, MLC_USAGE for other names.
Status findDevice(const char *name);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_DEVICE_H
