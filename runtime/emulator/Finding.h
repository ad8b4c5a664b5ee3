//===- Finding.h - What is wrong with a kernel, and where -------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_FINDING_H
#define MLC_RUNTIME_EMULATOR_FINDING_H

#include "runtime/emulator/Launch.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlc::emulator {

enum class Problem : uint8_t {
  Race,
  Unwritten,    ///< read of what nobody wrote
  UnwaitedCopy, ///< use of what an asynchronous copy still writes
  OutOfBounds,
  Misaligned,
  Divergence, ///< a barrier that not all threads reach
  Division,   ///< of an integer by zero
  AbsentLane, ///< a warp that lacks lanes does what needs them all
};

/// One side of a finding. It owns nothing, since whoever finds an error may
/// never come to its end. Places are offsets in the module's code; 0 is none.
struct Side {
  uint32_t at = 0;
  unsigned thread = 0;
  uint64_t block = 0;
  const char *does = nullptr; ///< "reads"; null if there is no such side
  uint64_t bytes = 0;         ///< of what it does it with, if not 0
};

struct Finding {
  Problem problem;
  Side self;
  Side other;       ///< of races and divergence
  std::string what; ///< where the bytes lie, or what was expected
};

/// CUDA's error for it.
int errorOf(Problem problem);
/// Text of several lines, with lines of the source where there is a tool that
/// finds them.
std::string describe(const Launch &launch,
                     const std::vector<Finding> &findings);

/// Prints to stderr and keeps for mlcEmulatorReport().
void addToReport(const std::string &text);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_FINDING_H
