//===- Profile.h - Where the time of a run goes -----------------*- C++ -*-===//
//
// The table that --profile of mlc-run, `mlc run` and `mlc bench` prints, for
// all devices. Only tools use it: the C ABI has the numbers, step by step.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PROFILE_H
#define MLC_RUNTIME_PROFILE_H

#include "runtime/mlc_runtime.h"

#include <string>
#include <vector>

namespace mlc::runtime {

/// A step that was measured.
struct ProfiledStep {
  std::string name;
  std::string skeleton; ///< of its kernel; may be empty
  std::vector<std::string> nodes;
  double ns = 0; ///< of one run; the median where there were more
  mlc_step_cost cost = {};
  /// The share of the device's roofline that it reaches; negative: not known.
  double share = -1;
};

/// What a device can do at most.
struct Roofline {
  /// A cache or the memory: what does not fit goes to the next level.
  struct Level {
    double bytes, bytesPerSecond;
  };
  std::vector<Level> levels; ///< the memory last
  double contractionsPerSecond = 0, scalarsPerSecond = 0;

  /// The least time that it takes to do that, in nanoseconds.
  double leastNanoseconds(const mlc_step_cost &cost) const;
};

/// Middle of some times, which it sorts; 0 of none.
double median(std::vector<double> &times);

/// The longest first, those that were skipped left out; sets the shares where
/// there is a roofline.
void finishProfile(std::vector<ProfiledStep> &steps, const Roofline *roofline);

/// All of them together: times, bytes and operations, and their share.
ProfiledStep totalOf(const std::vector<ProfiledStep> &steps);

/// A table of finished steps, and a line for all together.
std::string profileTable(const std::vector<ProfiledStep> &steps);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PROFILE_H
