//===- Bytes.cpp - Numbers of bytes in flags and plans --------------------===//

#include "runtime/plan/Bytes.h"

#include <charconv>
#include <cmath>

namespace mlc::runtime {

/// The bytes of a unit; 0 if there is none of that name.
static double bytesOf(std::string_view unit) {
  constexpr struct {
    std::string_view name;
    double bytes;
  } units[] = {{"", 1},
               {"B", 1},
               {"kB", 1e3},
               {"KB", 1e3},
               {"MB", 1e6},
               {"GB", 1e9},
               {"TB", 1e12},
               {"KiB", double(uint64_t(1) << 10)},
               {"MiB", double(uint64_t(1) << 20)},
               {"GiB", double(uint64_t(1) << 30)},
               {"TiB", double(uint64_t(1) << 40)}};
  for (const auto &one : units)
    if (one.name == unit)
      return one.bytes;
  return 0;
}

/// Reads all of `text` as a number.
template <typename T> static bool readAll(std::string_view text, T &value) {
  const char *end = text.data() + text.size();
  auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end;
}

bool parseBytes(std::string_view text, uint64_t &bytes) {
  constexpr uint64_t most = uint64_t(1) << 62;
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, digits);
  const double unit =
      bytesOf(digits == std::string_view::npos ? "" : text.substr(digits));
  // An integer number of bytes stays exact.
  uint64_t whole;
  if (unit == 1 && readAll(number, whole)) {
    if (whole < 1 || whole > most)
      return false;
    bytes = whole;
    return true;
  }
  double value;
  if (unit == 0 || !readAll(number, value))
    return false;
  value = std::floor(value * unit);
  if (!(value >= 1 && value <= double(most)))
    return false;
  bytes = static_cast<uint64_t>(value);
  return true;
}

} // namespace mlc::runtime
