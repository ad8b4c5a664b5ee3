//===- FileBytes.h - A file read whole, within a bound ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_FILEBYTES_H
#define MLC_RUNTIME_FILEBYTES_H

#include "runtime/Status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace mlc::runtime {

/// What a file had when it was read. A copy, unlike a mapping: whoever cuts the
/// file later does not end the program that reads it.
class FileBytes {
public:
  /// The whole file, also a pipe or device. More than `limit` bytes are
  /// MLC_RESOURCES, before they take memory. Messages do not name the path.
  static Status read(const char *path, uint64_t limit, FileBytes &bytes);
  /// The same for a regular file with one name. Neither the last part of
  /// `path` nor another name of the file may lead elsewhere: for paths that
  /// come from a model.
  static Status readOwn(const char *path, uint64_t limit, FileBytes &bytes);

  std::string_view text() const { return {data.get(), length}; }

private:
  static Status readFrom(int fd, uint64_t limit, FileBytes &bytes);

  struct Free {
    void operator()(char *p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data;
  uint64_t length = 0;
};

/// A bound for files that people write: rules, targets, timings.
constexpr uint64_t maxTextFile = uint64_t(64) << 20;

} // namespace mlc::runtime

#endif // MLC_RUNTIME_FILEBYTES_H
