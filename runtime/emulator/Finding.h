//===- Finding.h - What is wrong with a kernel, and where -------*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_FINDING_H
#define MLC_RUNTIME_EMULATOR_FINDING_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlc::emulator {

struct Launch;

enum class Problem : uint8_t {
  Race,
  Unwritten,    ///< read of what nobody wrote
  UnwaitedCopy, ///< use of what an asynchronous copy still writes
  OutOfBounds,
  Misaligned,
  Divergence, ///< a barrier that not all threads reach
  AbsentLane, ///< a warp that lacks lanes does what needs them all
};

/// One side of a finding. Places are offsets in the module's code; 0 is none.
struct Side {
  uint32_t at = 0;
  unsigned thread = 0;
  uint64_t block = 0;
  std::string does; ///< "reads 4 bytes"
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
