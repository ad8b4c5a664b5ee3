//===- TrialMemory.cpp - Memory of a trial's elements ---------------------===//

#include "runtime/transport/TrialMemory.h"

#include <new>

namespace mlc::runtime::transport {

Status TrialMemory::reserve(Device *where, size_t size) {
  bytes = size;
  memory.reset(new (std::nothrow) char[bytes + 1]);
  if (!memory)
    return Status::error(MLC_RESOURCES, "out of memory for " +
                                            std::to_string(bytes) +
                                            " bytes; give fewer");
  device = where;
  if (!device)
    return Status::success();
  bool grown = false;
  Status status = device->open({}, queue);
  return status.ok() ? onDevice.reserve(*device, bytes + 1, grown) : status;
}

Status TrialMemory::copy(bool isGive) {
  if (!device || !bytes)
    return Status::success();
  QueuedWork work(*queue);
  Status status = isGive
                      ? queue->upload(onDevice.data(), memory.get(), bytes)
                      : queue->download(memory.get(), onDevice.data(), bytes);
  Status end = work.finish();
  return status.ok() ? end : status;
}

Status TrialMemory::give() { return copy(true); }
Status TrialMemory::take() { return copy(false); }

void TrialMemory::abandon() {
  new TrialMemory(std::move(*this)); // NOLINT(clang-analyzer-cplusplus)
}

} // namespace mlc::runtime::transport
