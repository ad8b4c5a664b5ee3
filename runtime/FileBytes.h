//===- FileBytes.h - A file read whole, within a bound ----------*- C++ -*-===//

#ifndef MLC_RUNTIME_FILEBYTES_H
#define MLC_RUNTIME_FILEBYTES_H

#include "runtime/Status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace mlc::runtime {

/// The contents of a file when it was read. A copy, so that, unlike with a
/// mapping, truncating the file later does not crash its reader.
class FileBytes {
public:
  /// Reads the whole file, also a pipe or device. MLC_RESOURCES for more than
  /// `limit` bytes, before memory is taken. Messages do not name the path.
  static Status read(const char *path, uint64_t limit, FileBytes &bytes);
  /// The same for paths that come from a model: the file must be regular, the
  /// last component of `path` no symbolic link, and the file without other hard
  /// links.
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

/// The limit for files that people write: rules, targets, timings.
constexpr uint64_t maxTextFile = uint64_t(64) << 20;

} // namespace mlc::runtime

#endif // MLC_RUNTIME_FILEBYTES_H
