//===- Device.cpp - Device memory and the list of devices -----------------===//

#include "runtime/Device.h"

#include <utility>

namespace mlc::runtime {

LoadedCode::~LoadedCode() = default;
Event::~Event() = default;
Recording::~Recording() = default;
Queue::~Queue() = default;
Device::~Device() = default;

static Status hasNoEvents() {
  return Status::error(MLC_INTERNAL, "the device has no events");
}
Status Queue::makeEvent(std::unique_ptr<Event> &) { return hasNoEvents(); }
Status Queue::record(Event &) { return hasNoEvents(); }
Status Queue::waitFor(Event &) { return hasNoEvents(); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DeviceMemory::~DeviceMemory() { release(); }

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : owner(other.owner), base(std::exchange(other.base, nullptr)),
      size(std::exchange(other.size, 0)) {}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(base, other.base);
  std::swap(size, other.size);
  return *this;
}

void DeviceMemory::release() {
  if (base)
    owner->free(base, size);
  base = nullptr;
  size = 0;
}

Status DeviceMemory::reserve(Device &device, uint64_t bytes, bool &grown) {
  grown = false;
  if (base && bytes <= size)
    return Status::success();
  // Free first, so that both blocks need not exist at the same time.
  release();
  owner = &device;
  void *memory = nullptr;
  Status status = device.allocate(bytes, memory, size);
  if (!status.ok()) {
    size = 0;
    return status;
  }
  base = static_cast<uint8_t *>(memory);
  grown = true;
  return status;
}

} // namespace mlc::runtime
