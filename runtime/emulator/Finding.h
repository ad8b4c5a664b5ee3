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
  Unwritten,    ///< read of unwritten memory
  UnwaitedCopy, ///< use of the target of an unfinished asynchronous copy
  OutOfBounds,
  Misaligned,
  Divergence, ///< a barrier that not all threads reach
  Division,   ///< of an integer by zero
  AbsentLane, ///< an incomplete warp at an operation of whole warps
  Misuse,     ///< of an instruction
  Deadlock,   ///< all threads wait
  Unfenced,   ///< asynchronous work does not see a thread's write
  Unfinished, ///< asynchronous work outlives its block
  Registers,  ///< of a product that is not complete
};

/// One side of a finding. It owns nothing, since the stack that reports an
/// error may never unwind. Places are offsets in the module's code; 0 is none.
struct Side {
  uint32_t at = 0;
  unsigned thread = 0;
  uint64_t block = 0;
  const char *does = nullptr; ///< "reads"; null if there is no such side
  uint64_t bytes = 0;         ///< size of the access, if not 0
};

struct Finding {
  Problem problem;
  Side self;
  Side other;       ///< of races and divergence
  std::string what; ///< location of the bytes, or what was expected
};

/// The CUDA error for the problem.
int errorOf(Problem problem);
/// Text of several lines, with source lines if a symbolizer is available.
std::string describe(const Launch &launch,
                     const std::vector<Finding> &findings);

/// Prints to stderr and keeps for mlcEmulatorReport().
void addToReport(const std::string &text);

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_FINDING_H
