//===- Clock.h - Runs a table in unit times ---------------------*- C++ -*-===//
//
// A judge of schedules that shares no code with them: each rank runs its
// computations in order, as soon as what they need is there; transfers take no
// time.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_UNIT_SCHEDULE_CLOCK_H
#define MLC_TEST_UNIT_SCHEDULE_CLOCK_H

#include "runtime/schedule/Table.h"

#include <cstdint>
#include <string>
#include <vector>

/// Times of F, I and W; B takes I + W.
struct UnitTimes {
  int64_t forward = 1, input = 1, weight = 1;
};

struct Clocked {
  /// Empty, or where ranks wait for each other: "rank 1 at 1F0".
  std::string stuck;
  int64_t span = 0, work = 0;
  /// Of each rank, the most pairs of stage and micro-batch (and slice) between
  /// the begin of F and the end of W or B.
  std::vector<int64_t> inFlight;

  /// Whether the idle share of all ranks is exactly `above / below`.
  bool hasIdleShare(int64_t above, int64_t below) const {
    const int64_t all = span * int64_t(inFlight.size());
    return (all - work) * below == above * all;
  }
};

Clocked runClock(const mlc::runtime::schedule::Table &table,
                 const UnitTimes &times = {});

#endif // MLC_TEST_UNIT_SCHEDULE_CLOCK_H
