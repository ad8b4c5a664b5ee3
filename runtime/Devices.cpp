//===- Devices.cpp - The devices of a process -----------------------------===//

#include "runtime/Devices.h"
#include "runtime/CpuDevice.h"
#include "runtime/CudaDevices.h"

#include <cstring>

namespace mlc::runtime {

static std::vector<Device *> &list() {
  static std::vector<Device *> all{&cpuDevice()};
  return all;
}

const std::vector<Device *> &devices() { return list(); }

void addDevice(Device &device) { list().push_back(&device); }

Status findDevice(const char *name, Device *&device) {
  std::string have;
  for (Device *known : devices()) {
    if (!name || !std::strcmp(name, known->name())) {
      device = known;
      return Status::success();
    }
    have += known->name() + std::string(", ");
  }
  if (isCudaName(name))
    return findCudaDevice(name, device);
  return Status::error(MLC_USAGE, "'" + std::string(name, strnlen(name, 80)) +
                                      "' is no device; there is " + have +
                                      "cuda:N and emulator");
}

} // namespace mlc::runtime
