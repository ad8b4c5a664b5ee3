//===- EventLog.cpp - A log of training for TensorBoard -------------------===//
//
// A TFRecord consists of the 64-bit length of the data, the checksum of these 8
// bytes, the data, and its checksum. A checksum is a masked CRC32C. All is
// little-endian. The data is an Event of tensorflow/core/util/event.proto.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/LogFormat.h"

#include <chrono>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Castagnoli's polynomial, bits reflected.
static uint32_t crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> table;
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes)
    crc = table[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}

/// Masks the checksum, as TFRecord does for data that itself has CRCs.
static uint32_t maskedCrc(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <typename T> static std::string littleEndian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

template <typename T> static T fromLittleEndian(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= T(static_cast<unsigned char>(bytes[i])) << 8 * i;
  return value;
}

static std::string record(const std::string &data) {
  const std::string size = littleEndian<uint64_t>(data.size());
  return size + littleEndian(maskedCrc(size)) + data +
         littleEndian(maskedCrc(data));
}

/// Bytes around a record's data: its length with checksum, and its checksum.
constexpr size_t before = 12, behind = 4;

/// Whether the rest may be a record that was not completely written.
static bool isCutOff(std::string_view file) {
  return file.size() < before + behind ||
         (fromLittleEndian<uint32_t>(file.substr(8)) ==
              maskedCrc(file.substr(0, 8)) &&
          fromLittleEndian<uint64_t>(file) > file.size() - before - behind);
}

/// Takes the first record from `file`; nothing if it is not complete.
static std::optional<std::string_view> takeRecord(std::string_view &file) {
  if (file.size() < before + behind)
    return std::nullopt;
  const auto size = fromLittleEndian<uint64_t>(file);
  if (fromLittleEndian<uint32_t>(file.substr(8)) !=
          maskedCrc(file.substr(0, 8)) ||
      size > file.size() - before - behind)
    return std::nullopt;
  std::string_view data = file.substr(before, size);
  if (fromLittleEndian<uint32_t>(file.substr(before + size)) != maskedCrc(data))
    return std::nullopt;
  file.remove_prefix(before + size + behind);
  return data;
}

//===----------------------------------------------------------------------===//
// Protocol buffers
//===----------------------------------------------------------------------===//

/// The wire types of an Event's fields.
enum : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

static std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7)
    bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

static std::string key(uint32_t field, uint32_t kind) {
  return varint(field << 3 | kind);
}

static std::string bytesField(uint32_t field, const std::string &bytes) {
  return key(field, kBytes) + varint(bytes.size()) + bytes;
}

/// wall_time, and the step if it is not 0.
static std::string beginEvent(int64_t step) {
  const double now = std::chrono::duration<double>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  uint64_t bits = 0;
  std::memcpy(&bits, &now, sizeof(bits));
  std::string event = key(1, kFixed64) + littleEndian(bits);
  return step ? event + key(2, kVarint) + varint(step) : event;
}

/// Summary.Value with `tag` and `simple_value`.
static std::string scalar(const char *tag, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bytesField(1, tag) + key(2, kFixed32) + littleEndian(bits);
}

/// The step of an event that beginEvent() began.
static int64_t stepOf(std::string_view event) {
  constexpr size_t place = 9;
  if (event.size() <= place || event.substr(place, 1) != key(2, kVarint))
    return 0;
  uint64_t step = 0;
  for (size_t i = place + 1, shift = 0; i < event.size() && shift < 63;
       ++i, shift += 7) {
    step |= uint64_t(event[i] & 127) << shift;
    if (!(event[i] & 128))
      break;
  }
  return int64_t(step);
}

namespace {

class EventFormat : public LogFormat {
public:
  std::string header() const override {
    return record(beginEvent(0) + bytesField(3, version)); // file_version
  }

  std::string row(const LogRow &row) const override {
    std::string summary;
    for (size_t i = 0; i < numLogColumns; ++i)
      if (row.values[i])
        summary += bytesField(1, scalar(logColumns[i], float(*row.values[i])));
    return record(beginEvent(row.step) + bytesField(5, summary));
  }

  std::optional<size_t> sizeUpTo(std::string_view file,
                                 int64_t step) const override {
    std::string_view rest = file;
    std::optional<std::string_view> event = takeRecord(rest);
    if (!event || event->find(version) == std::string_view::npos)
      return std::nullopt;
    size_t end = 0;
    do
      end = file.size() - rest.size();
    while ((event = takeRecord(rest)) && stepOf(*event) <= step);
    // Refuse a damaged file, since records after the damage would be lost.
    return event || rest.empty() || isCutOff(rest) ? std::optional(end)
                                                   : std::nullopt;
  }

private:
  const std::string version = "brain.Event:2";
};

} // namespace

std::unique_ptr<LogFormat> train::makeEventFormat() {
  return std::make_unique<EventFormat>();
}
