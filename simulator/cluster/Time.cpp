//===- Time.cpp - Times of simulations ------------------------------------===//

#include "simulator/cluster/Time.h"
#include <cmath>
#include <fmt/format.h>

using namespace mlc;

simulator::Time simulator::toTime(double seconds) {
  double picoseconds =
      std::floor(seconds * double(kPicosecondsPerSecond) + 0.5);
  // 2^63 is the first double that does not fit.
  return picoseconds < 0x1p63 ? Time(picoseconds) : kLongestTime;
}

simulator::Time simulator::sum(Time a, Time b) {
  return a > kLongestTime - b ? kLongestTime : a + b;
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
