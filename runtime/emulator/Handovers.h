//===- Handovers.h - Order among blocks by counters -------------*- C++ -*-===//
//
// An atomic operation that releases and acquires (count(), of the device
// header) orders blocks. A block hands over its accesses before its last
// barrier, and those handed over to it. A block that counts at the same address
// later receives them, for all its threads, at its next barrier. A GPU orders
// more: the counting thread's own accesses at once. The check is thus
// conservative: it may report a kernel that relies on that, but does not miss
// errors.
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
  /// Handed-over spans by the address of the counter.
  std::map<uintptr_t, Spans> given;
  /// Spans that this block receives at its next barrier.
  Spans arriving;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_HANDOVERS_H
