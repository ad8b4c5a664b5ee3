//===- CodeBundle.cpp - Several codes in one image ------------------------===//

#include "runtime/CodeBundle.h"

#include <cstring>
#include <unordered_set>

namespace mlc::runtime {

namespace {

constexpr char magic[] = {'m', 'l', 'c', 'b', 'u', 'n', 'd', 'l'};
constexpr size_t headSize = sizeof(magic) + 8, rowSize = 4 * 8, alignment = 16;

void put(std::string &to, uint64_t value) {
  for (unsigned i = 0; i < 8; ++i)
    to += char(value >> (8 * i));
}

uint64_t get(const uint8_t *from) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i)
    value |= uint64_t(from[i]) << (8 * i);
  return value;
}

/// The first aligned place for an entry's bytes after `end`.
uint64_t roundUp(uint64_t end) {
  return (end + alignment - 1) / alignment * alignment;
}

bool isInside(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

Status damaged(const std::string &what) {
  return Status::badFile("the code is damaged: " + what);
}

} // namespace

std::string
writeBundle(const std::vector<std::pair<std::string, std::string>> &entries) {
  std::string bundle(magic, sizeof(magic));
  put(bundle, entries.size());
  uint64_t name = headSize + entries.size() * rowSize, at = name;
  for (const auto &entry : entries)
    at += entry.first.size();
  for (const auto &[key, bytes] : entries) {
    at = roundUp(at);
    for (uint64_t field :
         {name, uint64_t(key.size()), at, uint64_t(bytes.size())})
      put(bundle, field);
    name += key.size();
    at += bytes.size() + 1;
  }
  for (const auto &entry : entries)
    bundle += entry.first;
  for (const auto &entry : entries) {
    bundle.resize(roundUp(bundle.size()));
    bundle += entry.second;
    bundle += '\0';
  }
  return bundle;
}

Status readBundle(const void *data, size_t size,
                  std::vector<BundleEntry> &entries) {
  auto *bytes = static_cast<const uint8_t *>(data);
  entries.clear();
  if (size < headSize || std::memcmp(bytes, magic, sizeof(magic)) != 0)
    return damaged("it is no bundle of kernels");
  uint64_t count = get(bytes + sizeof(magic));
  if (count > (size - headSize) / rowSize)
    return damaged("its kernels are more than its bytes");
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t *row = bytes + headSize + i * rowSize;
    uint64_t nameAt = get(row), nameSize = get(row + 8);
    uint64_t at = get(row + 16), length = get(row + 24);
    if (!isInside(nameAt, nameSize, size) || nameSize == 0 ||
        std::memchr(bytes + nameAt, 0, nameSize))
      return damaged("kernel " + std::to_string(i) + " has no name");
    std::string name(reinterpret_cast<const char *>(bytes + nameAt), nameSize);
    // The terminating 0 is required.
    if (at % alignment != 0 || !isInside(at, length, size) ||
        length == size - at || bytes[at + length] != 0)
      return damaged("the bytes of kernel " + name + " lie outside of it");
    if (!names.insert(name).second)
      return damaged("there are two kernels " + name);
    entries.push_back({std::move(name), bytes + at, size_t(length)});
  }
  return Status::success();
}

} // namespace mlc::runtime
