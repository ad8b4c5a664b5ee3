//===- FileBytes.cpp - A file read whole, within a bound ------------------===//

#include "runtime/FileBytes.h"
#include "runtime/FileKind.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace mlc::runtime {

namespace {

Status cannotRead(int code) {
  return Status::error(isResourceError(code) ? MLC_RESOURCES : MLC_BAD_FILE,
                       std::string("cannot be read: ") + std::strerror(code));
}

Status tooLarge(uint64_t limit) {
  return Status::error(MLC_RESOURCES,
                       "has more than the " + std::to_string(limit) +
                           " bytes that are read of such a file");
}

/// Closes the descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

} // namespace

Status FileBytes::readFrom(int fd, uint64_t limit, FileBytes &bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0)
    return cannotRead(errno);
  // The size of a regular file saves reallocations; others have none.
  uint64_t expected = S_ISREG(info.st_mode) ? uint64_t(info.st_size) : 0;
  if (expected > limit)
    return tooLarge(limit);
  uint64_t capacity = 0, length = 0;
  std::unique_ptr<char, Free> data;
  for (;;) {
    if (length == capacity) {
      // One byte more than expected, to see the end.
      capacity = std::min(
          std::max({expected + 1, 2 * capacity, uint64_t(1) << 16}), limit + 1);
      char *larger =
          static_cast<char *>(std::realloc(data.get(), size_t(capacity)));
      if (!larger)
        return cannotRead(ENOMEM);
      (void)data.release();
      data.reset(larger);
    }
    ssize_t n = ::read(fd, data.get() + length,
                       std::min<uint64_t>(capacity - length, 1 << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return cannotRead(errno);
    if (n == 0)
      break;
    length += uint64_t(n);
    if (length > limit)
      return tooLarge(limit);
  }
  bytes.data = std::move(data);
  bytes.length = length;
  return Status::success();
}

Status FileBytes::read(const char *path, uint64_t limit, FileBytes &bytes) {
  if (Status status = refuseFifo(path); !status.ok())
    return status;
  Descriptor file{::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
  return file.fd < 0 ? cannotRead(errno) : readFrom(file.fd, limit, bytes);
}

Status FileBytes::readOwn(const char *path, uint64_t limit, FileBytes &bytes) {
  // O_NONBLOCK: opening a FIFO without a writer must not block.
  Descriptor file{
      ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)};
  struct stat info;
  if (file.fd < 0 || fstat(file.fd, &info) != 0)
    return cannotRead(errno);
  if (!S_ISREG(info.st_mode))
    return Status::badFile("is not a regular file");
  if (info.st_nlink > 1)
    return Status::badFile("has " + std::to_string(info.st_nlink) +
                           " names (hard links), so it may be any file of "
                           "this machine; copy it");
  return readFrom(file.fd, limit, bytes);
}

} // namespace mlc::runtime
