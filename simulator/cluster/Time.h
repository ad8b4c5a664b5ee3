//===- Time.h - Times of simulations ----------------------------*- C++ -*-===//
//
// Times are integer picoseconds, so that sums do not depend on their order and
// a simulation of what changed equals one of everything.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_TIME_H
#define MLC_SIMULATOR_CLUSTER_TIME_H

#include <cstdint>
#include <limits>
#include <string>

namespace mlc::simulator {

/// Picoseconds: up to 106 days.
using Time = int64_t;

inline constexpr Time kPicosecondsPerSecond = 1'000'000'000'000;
/// Stands for itself, and for all that takes longer.
inline constexpr Time kLongestTime = std::numeric_limits<Time>::max();

/// Rounded to the nearest picosecond, halves up. `seconds` is not negative;
/// what is longer than the longest time is the longest time.
Time toTime(double seconds);
double toSeconds(Time time);

/// The sum of times from 0 on; what is longer than the longest time is that.
Time sum(Time a, Time b);

/// "12.3 ms", "4 us": three digits, for people.
std::string toText(Time time);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_TIME_H
