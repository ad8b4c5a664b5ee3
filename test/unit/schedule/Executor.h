//===- Executor.h - Runs tables with blocking sends -------------*- C++ -*-===//
//
// A judge of checked tables that shares no code with the checker: ranks run
// their actions one after the other, a send and its receive meet, collectives
// meet, and values are hashes of what went into them, as bits are.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TEST_UNIT_SCHEDULE_EXECUTOR_H
#define MLC_TEST_UNIT_SCHEDULE_EXECUTOR_H

#include "runtime/schedule/Table.h"

#include <array>
#include <map>
#include <string>

struct Execution {
  /// Empty, or why it ended: a deadlock, or an action that finds something
  /// else than what it needs.
  std::string error;
  /// By stage: the weights at the end, and the gradients that no update took.
  std::map<int32_t, uint64_t> weights, gradients;
  /// By stage and micro-batch (and slice): what the backward pass gave.
  std::map<std::array<int32_t, 3>, uint64_t> results;

  bool equals(const Execution &other) const {
    return error == other.error && weights == other.weights &&
           gradients == other.gradients && results == other.results;
  }
};

/// Stages read the one before them.
Execution execute(const mlc::runtime::schedule::Table &table);

#endif // MLC_TEST_UNIT_SCHEDULE_EXECUTOR_H
