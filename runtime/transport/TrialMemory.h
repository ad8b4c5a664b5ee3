//===- TrialMemory.h - Memory of a trial's elements -----------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_TRIALMEMORY_H
#define MLC_RUNTIME_TRANSPORT_TRIALMEMORY_H

#include "runtime/Device.h"

namespace mlc::runtime::transport {

/// Host memory, and as much on a device if there is one.
class TrialMemory {
public:
  Status reserve(Device *device, size_t bytes);
  char *host() { return memory.get(); }
  /// The memory for the collective.
  void *data() {
    return device ? static_cast<void *>(onDevice.data()) : memory.get();
  }
  /// Copy from the host to the collective's memory, and back.
  Status give();
  Status take();
  /// Leaks the memory: an engine may still write there.
  void abandon();

private:
  Status copy(bool isGive);

  Device *device = nullptr;
  size_t bytes = 0;
  std::unique_ptr<char[]> memory;
  DeviceMemory onDevice;
  std::unique_ptr<Queue> queue;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_TRIALMEMORY_H
