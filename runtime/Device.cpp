//===- Device.cpp - The devices of this build -----------------------------===//

#include "runtime/Device.h"

#include <cstring>

namespace mlc::runtime {

const std::vector<const char *> &deviceNames() {
  static const std::vector<const char *> names{"cpu"};
  return names;
}

Status findDevice(const char *name) {
  if (!name)
    return Status::success();
  std::string have;
  for (const char *known : deviceNames()) {
    if (!std::strcmp(name, known))
      return Status::success();
    have += (have.empty() ? "" : ", ") + std::string(known);
  }
  bool isKind = !std::strncmp(name, "cuda", 4) && (!name[4] || name[4] == ':');
  std::string text(name, strnlen(name, 80));
  return isKind
             ? Status::error(MLC_DEVICE, "there is no device '" + text +
                                             "' in this build; it has " + have)
             : Status::error(MLC_USAGE,
                             "'" + text + "' is no device; there is " + have);
}

} // namespace mlc::runtime
