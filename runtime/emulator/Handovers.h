//===- Handovers.h - Blocks that hand over what they wrote ------*- C++ -*-===//
//
// An atomic operation that releases and acquires (count(), of the device
// header) orders blocks. A block hands over what lies before its last barrier,
// and all that was handed over to it; who counts at the same address later
// receives that, for all its threads, at its next barrier. On the GPU more is
// ordered: the counting thread's own accesses at once. A kernel that needs that
// is reported; one that the emulator finds right is right.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_HANDOVERS_H
#define MLC_RUNTIME_EMULATOR_HANDOVERS_H

#include "runtime/emulator/Shadow.h"

#include <map>

namespace mlc::emulator {

class Handovers {
public:
  void startLaunch() { given.clear(); }
  void startBlock(Clock &clock) {
    clock.received.clear();
    arriving.clear();
  }
  void passBarrier(Clock &clock) {
    addSpans(clock.received, arriving);
    arriving.clear();
  }
  /// The running thread counts at `address`.
  void count(uintptr_t address, const Clock &clock) {
    Spans &here = given[address];
    addSpans(arriving, here);
    addSpans(here, clock.received);
    if (clock.block < clock.phase)
      addSpan(here, clock.block, clock.phase);
  }

private:
  /// By the address of the counter: what was handed over there.
  std::map<uintptr_t, Spans> given;
  /// What this block receives at its next barrier.
  Spans arriving;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_HANDOVERS_H
