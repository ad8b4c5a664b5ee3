//===- Memory.cpp - Owned memory and mapped files -------------------------===//

#include "runtime/Memory.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mlc::runtime {

namespace {
constexpr uint64_t largePage = 2 << 20;
}

Status mapPages(uint64_t bytes, void *&memory, uint64_t &capacity) {
  auto fail = [&] {
    return Status::error(MLC_RESOURCES,
                         "out of memory: " + std::to_string(bytes) +
                             " bytes cannot be allocated");
  };
  if (bytes > uint64_t(1) << 46)
    return fail();
  uint64_t unit = bytes >= largePage ? largePage : 4096;
  uint64_t want = (bytes + unit - 1) / unit * unit;
  if (want == 0)
    want = unit;
  // One extra large page, to cut out an aligned block.
  uint64_t slack = unit == largePage ? largePage : 0;
  void *p = mmap(nullptr, want + slack, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return fail();
  auto *start = static_cast<uint8_t *>(p);
  if (slack) {
    uint64_t skip =
        (largePage - reinterpret_cast<uintptr_t>(p) % largePage) % largePage;
    if (skip)
      munmap(start, skip);
    if (slack - skip)
      munmap(start + skip + want, slack - skip);
    start += skip;
    madvise(start, want, MADV_HUGEPAGE);
  }
  memory = start;
  capacity = want;
  return Status::success();
}

void unmapPages(void *memory, uint64_t capacity) { munmap(memory, capacity); }

Memory::~Memory() {
  if (base)
    unmapPages(base, size);
}

Memory::Memory(Memory &&other) noexcept
    : base(std::exchange(other.base, nullptr)),
      size(std::exchange(other.size, 0)) {}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(base, other.base);
  std::swap(size, other.size);
  return *this;
}

Status Memory::reserve(uint64_t bytes, bool &grown) {
  grown = false;
  if (base && bytes <= size)
    return Status::success();
  if (base)
    unmapPages(base, size);
  base = nullptr;
  size = 0;
  void *memory = nullptr;
  Status status = mapPages(bytes, memory, size);
  base = static_cast<uint8_t *>(memory);
  grown = status.ok();
  return status;
}

Mapping::~Mapping() {
  if (base)
    munmap(const_cast<uint8_t *>(base), length);
}

Status Mapping::open(const char *path) {
  // O_NONBLOCK: opening a FIFO without a writer must not block.
  int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    int reason = errno;
    if (fd >= 0)
      close(fd);
    return Status::error(isResourceError(reason) ? MLC_RESOURCES : MLC_BAD_FILE,
                         "cannot open: " + std::string(std::strerror(reason)));
  }
  if (!S_ISREG(info.st_mode)) {
    close(fd);
    return Status::badFile("is not a regular file");
  }
  length = info.st_size;
  if (length > 0) {
    void *p = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
    int reason = errno;
    if (p == MAP_FAILED) {
      close(fd);
      length = 0;
      return Status::error(MLC_RESOURCES,
                           "cannot map the file: " +
                               std::string(std::strerror(reason)));
    }
    base = static_cast<const uint8_t *>(p);
  }
  close(fd);
  return Status::success();
}

} // namespace mlc::runtime
