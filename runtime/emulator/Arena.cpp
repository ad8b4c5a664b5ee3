//===- Arena.cpp - The memory of an emulated device -----------------------===//

#include "runtime/emulator/Arena.h"

#include <cstdio>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <vector>

namespace mlc::emulator {

Arena *arena = nullptr;

namespace {

/// The open arenas.
std::vector<const Arena *> arenas;

/// A gap between allocations, so that out-of-bounds accesses hit none.
constexpr size_t gap = 4096;
/// The contents of unwritten memory: NaN in each float type, and -1.
constexpr int garbage = 0xff;

void *reserve(size_t bytes) {
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

size_t roundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

} // namespace

bool Arena::open(int number) {
  if (base)
    return true;
  device = number;
  // A system that limits address space may allow less.
  for (size_t bytes = size_t(64) << 30; bytes >= size_t(64) << 20; bytes /= 2) {
    void *memory = reserve(bytes);
    void *state = reserve(bytes / 4);
    void *records = reserve(bytes / 4 * sizeof(Cell));
    if (memory && state && records) {
      base = reinterpret_cast<uintptr_t>(memory);
      size = bytes;
      states = static_cast<uint8_t *>(state);
      cells = static_cast<Cell *>(records);
      arenas.push_back(this);
      return true;
    }
    if (memory)
      munmap(memory, bytes);
    if (state)
      munmap(state, bytes / 4);
    if (records)
      munmap(records, bytes / 4 * sizeof(Cell));
  }
  return false;
}

uintptr_t Arena::allocate(size_t bytes) {
  if (!base || !bytes || bytes > size)
    return 0;
  size_t need = roundUp(bytes, 256) + gap;
  uintptr_t at = base + sharedRange + gap;
  for (const auto &[start, length] : live) {
    if (start - at >= need)
      break;
    at = start + roundUp(length, 256) + gap;
  }
  if (at + need > base + size)
    return 0;
  live[at] = bytes;
  std::memset(reinterpret_cast<void *>(at), garbage, bytes);
  mark(at, bytes, true, false);
  return at;
}

bool Arena::free(uintptr_t address) {
  auto found = live.find(address);
  if (found == live.end())
    return false;
  mark(address, found->second, false, false);
  // Whole pages go back to the system.
  uintptr_t begin = roundUp(address, 4096);
  uintptr_t end = (address + found->second) / 4096 * 4096;
  if (begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  live.erase(found);
  return true;
}

bool Arena::contains(uintptr_t address, size_t bytes) const {
  auto found = live.upper_bound(address);
  if (found == live.begin())
    return false;
  --found;
  size_t offset = address - found->first;
  return offset <= found->second && bytes <= found->second - offset;
}

std::string Arena::describe(uintptr_t address) const {
  for (const Arena *other : arenas)
    if (other != this && other->has(address))
      return other->describeOwn(address) + " of device " +
             std::to_string(other->device) + ", while the kernel runs on " +
             std::to_string(device);
  return describeOwn(address);
}

std::string Arena::describeOwn(uintptr_t address) const {
  auto bytes = [](size_t n) { return std::to_string(n); };
  if (isShared(address))
    return "byte " + bytes(address - base - sharedOffset) + " of the block's " +
           bytes(sharedBytes) + " bytes of shared memory";
  auto next = live.upper_bound(address);
  if (next != live.begin()) {
    auto [start, length] = *std::prev(next);
    if (address - start < length)
      return "byte " + bytes(address - start) + " of an allocation of " +
             bytes(length) + " bytes";
    if (next == live.end() || address - start - length < next->first - address)
      return "byte " + bytes(address - start - length) +
             " behind an allocation of " + bytes(length) + " bytes";
  }
  if (has(address) && next != live.end())
    return bytes(next->first - address) +
           " bytes in front of an allocation of " + bytes(next->second) +
           " bytes";
  char text[64];
  std::snprintf(text, sizeof(text), "address 0x%zx, which is not the device's",
                size_t(address));
  return text;
}

void Arena::resetShared(size_t bytes, bool fill, size_t offset) {
  mark(base + sharedOffset, sharedBytes, false, false);
  sharedBytes = bytes;
  sharedOffset = offset;
  mark(base + offset, bytes, true, false);
  if (fill)
    std::memset(shared(), garbage, bytes);
}

void Arena::mark(uintptr_t address, size_t bytes, bool exist, bool written) {
  uint8_t whole = uint8_t((exist ? 0xf0 : 0) | (written ? 0x0f : 0));
  uintptr_t at = address, end = address + bytes;
  auto single = [&] {
    uint8_t mask = uint8_t(0x11 << ((at - base) % 4));
    uint8_t &state = marks(at);
    state = uint8_t((state & ~mask) | (whole & mask));
    ++at;
  };
  while (at < end && (at - base) % 4)
    single();
  if (size_t words = (end - at) / 4) {
    std::memset(&marks(at), whole, words);
    at += words * 4;
  }
  while (at < end)
    single();
}

void Arena::copyMarks(uintptr_t to, const Arena &source, uintptr_t from,
                      size_t bytes) {
  if (to % 4 == 0 && from % 4 == 0) {
    std::memmove(&marks(to), &source.marks(from), bytes / 4);
    size_t done = bytes / 4 * 4;
    to += done, from += done, bytes -= done;
  }
  for (; bytes; --bytes, ++to, ++from)
    mark(to, 1, true, source.marks(from) >> (from % 4) & 1);
}

} // namespace mlc::emulator
