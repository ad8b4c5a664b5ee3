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

/// A measured step.
struct ProfiledStep {
  std::string name;
  std::string skeleton; ///< of its kernel; may be empty
  std::vector<std::string> nodes;
  double ns = 0; ///< of one run; the median of several
  mlc_step_cost cost = {};
  /// Whether a roofline holds for the type of its products.
  bool hasPeak = true;
  /// The share of the device's roofline that it reaches; negative: unknown.
  double share = -1;
};

/// The peak rates of a device.
struct Roofline {
  /// A cache or the memory; data that does not fit goes to the next level.
  struct Level {
    double bytes, bytesPerSecond;
  };
  std::vector<Level> levels; ///< the memory last
  double contractionsPerSecond = 0, scalarsPerSecond = 0;

  /// The least time for that work, in nanoseconds.
  double leastNanoseconds(const mlc_step_cost &cost) const;
};

/// Whether step `index` of the artifact reads nothing but that type.
bool readsOnly(const mlc_artifact *artifact, size_t index, mlc_dtype type);

/// The median of `times`, which it sorts; 0 if there are none.
double median(std::vector<double> &times);

/// Sorts the steps, the longest first, drops skipped ones, and sets the shares
/// if there is a roofline.
void finishProfile(std::vector<ProfiledStep> &steps, const Roofline *roofline);

/// The sum of all steps: times, bytes and operations, and their share.
ProfiledStep totalOf(const std::vector<ProfiledStep> &steps);

/// A table of finished steps with a line for the total.
std::string profileTable(const std::vector<ProfiledStep> &steps);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PROFILE_H
