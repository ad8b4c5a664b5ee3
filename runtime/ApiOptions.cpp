//===- ApiOptions.cpp - Options of the C ABI's callers --------------------===//

#include "runtime/ApiOptions.h"
#include "runtime/Version.h"

#include <string>

namespace mlc::runtime {

Status checkFlags(uint32_t flags, uint32_t known) {
  if (!(flags & ~known))
    return Status::success();
  return Status::error(MLC_USAGE, "flags " + std::to_string(flags) +
                                      " hold some that this library "
                                      "(" MLC_VERSION ") does not know");
}

Status checkOptions(const void *given, size_t size, size_t least, size_t known,
                    const char *macro) {
  if (size < least || size > 4096)
    return Status::error(MLC_USAGE, "the options' size is " +
                                        std::to_string(size) + "; begin with " +
                                        macro);
  auto *bytes = static_cast<const unsigned char *>(given);
  for (size_t i = known; i < size; ++i)
    if (bytes[i])
      return Status::error(MLC_USAGE, "the options hold what this library "
                                      "(" MLC_VERSION ") does not know");
  return Status::success();
}

} // namespace mlc::runtime
