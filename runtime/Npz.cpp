//===- Npz.cpp - NumPy's .npz files ---------------------------------------===//

#include "runtime/Npy.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

namespace mlc::runtime {

namespace {

constexpr uint32_t localMagic = 0x04034b50, centralMagic = 0x02014b50,
                   endMagic = 0x06054b50, end64Magic = 0x06064b50,
                   locator64Magic = 0x07064b50;
constexpr size_t localSize = 30, centralSize = 46, endSize = 22, end64Size = 56,
                 locator64Size = 20;
constexpr uint16_t stored = 0, deflated = 8;
/// No deflate stream unpacks to more than 1032 times its size.
constexpr uint64_t largestRatio = 1032;

template <typename T> T little(const uint8_t *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

template <typename T> void append(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

Status damaged(const char *what) {
  return Status::badFile(std::string("is no valid .npz file: ") + what);
}

/// Replaces the values that are all ones by those of the zip64 field, which
/// holds only these, in this order.
bool readZip64(const uint8_t *extra, size_t size, uint64_t *values[],
               size_t count) {
  while (size >= 4) {
    size_t id = little<uint16_t>(extra), length = little<uint16_t>(extra + 2);
    extra += 4;
    size -= 4;
    if (length > size)
      return false;
    if (id == 1) {
      for (size_t i = 0; i < count; ++i) {
        if (*values[i] != UINT32_MAX)
          continue;
        if (length < 8)
          return false;
        *values[i] = little<uint64_t>(extra);
        extra += 8;
        length -= 8;
      }
      return true;
    }
    extra += length;
    size -= length;
  }
  return true;
}

} // namespace

Status NpzFile::open(const std::string &name) {
  path = name;
  file = std::make_unique<Mapping>();
  Status status = file->open(name.c_str());
  if (status.ok())
    status = openMemory(file->data(), file->size());
  if (!status.ok())
    status.message = name + ": " + status.message;
  return status;
}

Status NpzFile::openMemory(const uint8_t *data, size_t size) {
  bytes = data;
  length = size;
  entries.clear();
  return parse();
}

Status NpzFile::parse() {
  const uint8_t *data = bytes;
  uint64_t size = length;
  if (size < endSize)
    return damaged("too short");
  // The end record lies before a comment of at most 65535 bytes.
  uint64_t end = size - endSize;
  uint64_t lowest = end > 65535 ? end - 65535 : 0;
  while (little<uint32_t>(data + end) != endMagic) {
    if (end == lowest)
      return damaged("no directory");
    --end;
  }
  uint64_t count = little<uint16_t>(data + end + 10);
  uint64_t directory = little<uint32_t>(data + end + 12);
  uint64_t at = little<uint32_t>(data + end + 16);
  if (end >= locator64Size &&
      little<uint32_t>(data + end - locator64Size) == locator64Magic) {
    uint64_t record = little<uint64_t>(data + end - locator64Size + 8);
    if (record > size || size - record < end64Size ||
        little<uint32_t>(data + record) != end64Magic)
      return damaged("bad zip64 directory");
    count = little<uint64_t>(data + record + 32);
    directory = little<uint64_t>(data + record + 40);
    at = little<uint64_t>(data + record + 48);
  }
  if (at > size || directory > size - at || count > directory / centralSize)
    return damaged("the directory lies outside the file");
  uint64_t stop = at + directory;
  for (uint64_t i = 0; i < count; ++i) {
    if (stop - at < centralSize || little<uint32_t>(data + at) != centralMagic)
      return damaged("bad directory entry");
    const uint8_t *p = data + at;
    uint64_t nameSize = little<uint16_t>(p + 28);
    uint64_t extraSize = little<uint16_t>(p + 30);
    uint64_t commentSize = little<uint16_t>(p + 32);
    if (stop - at - centralSize < nameSize + extraSize + commentSize)
      return damaged("bad directory entry");
    Entry entry;
    entry.method = little<uint16_t>(p + 10);
    entry.crc = little<uint32_t>(p + 16);
    entry.packedSize = little<uint32_t>(p + 20);
    entry.size = little<uint32_t>(p + 24);
    entry.headerOffset = little<uint32_t>(p + 42);
    entry.name.assign(reinterpret_cast<const char *>(p + centralSize),
                      nameSize);
    uint64_t *values[] = {&entry.size, &entry.packedSize, &entry.headerOffset};
    if (!readZip64(p + centralSize + nameSize, extraSize, values, 3))
      return damaged("bad zip64 field");
    if (little<uint16_t>(p + 8) & 1)
      return Status::error(MLC_UNSUPPORTED, "is encrypted");
    if (entry.name.size() > 4 &&
        entry.name.compare(entry.name.size() - 4, 4, ".npy") == 0) {
      entry.name.resize(entry.name.size() - 4);
      entries.push_back(std::move(entry));
    }
    at += centralSize + nameSize + extraSize + commentSize;
  }
  return Status::success();
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> result;
  for (const Entry &entry : entries)
    result.push_back(entry.name);
  return result;
}

Status NpzFile::contents(const Entry &entry, Memory &unpacked,
                         const uint8_t *&result, size_t &resultSize) const {
  const uint8_t *data = bytes;
  uint64_t size = length, at = entry.headerOffset;
  if (at > size || size - at < localSize ||
      little<uint32_t>(data + at) != localMagic)
    return damaged("bad file header");
  uint64_t skip = localSize + little<uint16_t>(data + at + 26) +
                  little<uint16_t>(data + at + 28);
  if (size - at < skip || size - at - skip < entry.packedSize)
    return damaged("an array lies outside the file");
  const uint8_t *packed = data + at + skip;
  if (entry.method == stored) {
    if (entry.size != entry.packedSize)
      return damaged("sizes differ");
    result = packed;
  } else if (entry.method == deflated) {
    if (entry.size / largestRatio > entry.packedSize + 1 ||
        entry.size > UINT32_MAX || entry.packedSize > UINT32_MAX)
      return damaged("an array's size is absurd");
    bool grown;
    Status status = unpacked.reserve(entry.size, grown);
    if (!status.ok())
      return status;
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      return Status::error(MLC_RESOURCES, "out of memory");
    stream.next_in = const_cast<uint8_t *>(packed);
    stream.avail_in = entry.packedSize;
    stream.next_out = unpacked.data();
    stream.avail_out = entry.size;
    int code = inflate(&stream, Z_FINISH);
    bool whole = code == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!whole)
      return damaged("an array cannot be unpacked");
    result = unpacked.data();
  } else {
    return Status::error(MLC_UNSUPPORTED, "uses compression method " +
                                              std::to_string(entry.method) +
                                              "; save it with numpy.savez");
  }
  resultSize = entry.size;
  if (crc32_z(0, result, resultSize) != entry.crc)
    return damaged("an array's checksum does not match");
  return Status::success();
}

Status NpzFile::read(const std::string &name, NpyArray &array) const {
  auto it = std::find_if(entries.begin(), entries.end(),
                         [&](const Entry &e) { return e.name == name; });
  if (it == entries.end())
    return Status::badFile(path + ": has no array '" + name + "'");
  Memory unpacked;
  const uint8_t *data = nullptr;
  size_t size = 0;
  Status status = contents(*it, unpacked, data, size);
  if (status.ok())
    status = parseNpy(data, size, array);
  if (!status.ok())
    status.message = path + ": " + name + ": " + status.message;
  return status;
}

Status writeNpz(const std::vector<NpzItem> &items, const ByteSink &sink) {
  // 1980-01-01, the first day zip knows.
  constexpr uint32_t date = 0x00210000;
  std::string directory;
  uint64_t at = 0;
  bool going = true;
  auto put = [&](const void *data, uint64_t size) {
    going = going && sink(data, size);
    at += size;
  };
  for (const NpzItem &item : items) {
    std::string name = item.name + ".npy";
    std::string header = npyHeader(item.type, item.dims);
    uint64_t size = header.size() + item.bytes;
    if (at + size + 1024 > UINT32_MAX || name.size() > UINT16_MAX)
      return Status::error(MLC_UNSUPPORTED,
                           "a .npz holds less than 4 GiB here; write a .npy "
                           "file of each output");
    uint32_t crc = crc32_z(0, reinterpret_cast<const uint8_t *>(header.data()),
                           header.size());
    if (item.bytes)
      crc = crc32_z(crc, static_cast<const uint8_t *>(item.data), item.bytes);
    std::string common;
    append<uint16_t>(common, 20);     // version needed
    append<uint16_t>(common, 0x0800); // names are UTF-8
    append<uint16_t>(common, stored);
    append<uint32_t>(common, date);
    append<uint32_t>(common, crc);
    append<uint32_t>(common, size);
    append<uint32_t>(common, size);
    append<uint16_t>(common, name.size());
    append<uint16_t>(common, 0); // no extra field
    append<uint32_t>(directory, centralMagic);
    append<uint16_t>(directory, 20);
    directory += common;
    directory.append(10, '\0'); // comment, disk, attributes
    append<uint32_t>(directory, at);
    directory += name;
    std::string local;
    append<uint32_t>(local, localMagic);
    local += common + name + header;
    put(local.data(), local.size());
    if (item.bytes)
      put(item.data, item.bytes);
  }
  uint64_t start = at;
  if (start + directory.size() > UINT32_MAX || items.size() > UINT16_MAX - 1)
    return Status::error(MLC_UNSUPPORTED, "too many arrays for one .npz");
  append<uint32_t>(directory, endMagic);
  append<uint32_t>(directory, 0);
  append<uint16_t>(directory, items.size());
  append<uint16_t>(directory, items.size());
  append<uint32_t>(directory, directory.size() - 12);
  append<uint32_t>(directory, start);
  append<uint16_t>(directory, 0);
  put(directory.data(), directory.size());
  return Status::success();
}

} // namespace mlc::runtime
