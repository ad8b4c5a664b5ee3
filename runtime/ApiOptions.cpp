//===- ApiOptions.cpp - What callers of the C ABI may ask for -------------===//

#include "runtime/ApiOptions.h"
#include "runtime/Version.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

namespace mlc::runtime {

Status checkFlags(uint32_t flags, uint32_t known) {
  if (!(flags & ~known))
    return Status::success();
  return Status::error(MLC_USAGE, "flags " + std::to_string(flags) +
                                      " hold some that this library "
                                      "(" MLC_VERSION ") does not know");
}

Status readOptions(const mlc_session_options *given,
                   mlc_session_options &options) {
  options = MLC_SESSION_OPTIONS_INIT;
  if (!given)
    return Status::success();
  constexpr size_t least = offsetof(mlc_session_options, device);
  if (given->size < least || given->size > 4096)
    return Status::error(MLC_USAGE, "the options' size is " +
                                        std::to_string(given->size) +
                                        "; begin with "
                                        "MLC_SESSION_OPTIONS_INIT");
  auto *bytes = reinterpret_cast<const unsigned char *>(given);
  for (size_t i = sizeof(options); i < given->size; ++i)
    if (bytes[i])
      return Status::error(MLC_USAGE, "the options hold what this library "
                                      "(" MLC_VERSION ") does not know");
  std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  return Status::success();
}

} // namespace mlc::runtime
