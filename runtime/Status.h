//===- Status.h - An error code with its message ----------------*- C++ -*-===//
//
// What the runtime's own functions return. The C ABI turns it into an
// mlc_status and keeps the message per thread.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_STATUS_H
#define MLC_RUNTIME_STATUS_H

#include "runtime/mlc_runtime.h"

#include <cerrno>
#include <string>
#include <utility>

namespace mlc::runtime {

/// Success, or a code of the public ABI with a message (lower case, no period,
/// the remedy after a semicolon).
struct [[nodiscard]] Status {
  mlc_status code = MLC_OK;
  std::string message;

  bool ok() const { return code == MLC_OK; }
  static Status success() { return {}; }
  static Status error(mlc_status code, std::string message) {
    return {code, std::move(message)};
  }
  static Status badFile(std::string message) {
    return {MLC_BAD_FILE, std::move(message)};
  }
};

/// Whether an `errno` means a lack of memory, disk or open files.
inline bool isResourceError(int code) {
  return code == ENOSPC || code == EDQUOT || code == EFBIG || code == ENOMEM ||
         code == EMFILE || code == ENFILE || code == EAGAIN;
}

} // namespace mlc::runtime

#endif // MLC_RUNTIME_STATUS_H
