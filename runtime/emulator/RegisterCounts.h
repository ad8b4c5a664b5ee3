//===- RegisterCounts.h - Registers that warpgroups ask for -----*- C++ -*-===//

#ifndef MLC_RUNTIME_EMULATOR_REGISTERCOUNTS_H
#define MLC_RUNTIME_EMULATOR_REGISTERCOUNTS_H

#include <vector>

namespace mlc::emulator {

/// The calls of raiseRegisters() and dropRegisters() in a block. The compiler's
/// count is not known here, so only what warpgroups ask for is added up.
class RegisterCounts {
public:
  void startBlock(unsigned threads);
  /// The running thread asks, which its whole warpgroup must do alike.
  void set(int count, bool raises, void *at);
  /// Reports counts that the multiprocessor has not.
  void endBlock() const;

private:
  struct Request {
    int count;
    bool raises;
    bool operator==(const Request &) const = default;
  };
  /// The requests of each warpgroup, in order, and how many each thread made.
  std::vector<std::vector<Request>> groups;
  std::vector<unsigned> made;
  void *last = nullptr;
  unsigned lastThread = 0;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_REGISTERCOUNTS_H
