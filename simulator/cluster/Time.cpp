//===- Time.cpp - Times of simulations ------------------------------------===//

#include "simulator/cluster/Time.h"
#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace mlc;

simulator::Time simulator::toTime(double seconds) {
  double picoseconds =
      std::floor(seconds * double(kPicosecondsPerSecond) + 0.5);
  // 2^63 is the first double that does not fit.
  return picoseconds < 0x1p63 ? Time(picoseconds)
                              : std::numeric_limits<Time>::max();
}

simulator::Time simulator::sum(Time a, Time b) {
  constexpr Time longest = std::numeric_limits<Time>::max();
  return a > longest - b ? longest : a + b;
}

double simulator::toSeconds(Time time) {
  return double(time) / double(kPicosecondsPerSecond);
}

std::string simulator::toText(Time time) {
  static constexpr struct {
    double picoseconds;
    const char *name;
  } units[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
  for (const auto &unit : units)
    if (double(time) >= unit.picoseconds)
      return fmt::format("{:.3g} {}", double(time) / unit.picoseconds,
                         unit.name);
  return fmt::format("{} ps", time);
}
