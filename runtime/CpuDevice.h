//===- CpuDevice.h - This machine's processor as a device -------*- C++ -*-===//
//
// Its memory is the host's, its images are ELF shared objects, and a launch's
// tasks run on the session's own thread pool.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_CPUDEVICE_H
#define MLC_RUNTIME_CPUDEVICE_H

#include "runtime/Device.h"

namespace mlc::runtime {

/// "cpu".
Device &cpuDevice();

} // namespace mlc::runtime

#endif // MLC_RUNTIME_CPUDEVICE_H
