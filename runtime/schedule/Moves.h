//===- Moves.h - How a value gets to the ranks that read it -----*- C++ -*-===//

#ifndef MLC_RUNTIME_SCHEDULE_MOVES_H
#define MLC_RUNTIME_SCHEDULE_MOVES_H

#include <cstdint>
#include <vector>

namespace mlc::runtime::schedule {

/// A stage that reads a value, and the ranks on which it does.
struct ValueReader {
  int64_t stage;
  std::vector<int> ranks;
};

/// A message that takes a value from rank to rank, with the transfer to this
/// stage.
struct Move {
  int from, to;
  int64_t stage;
};

/// The messages that take a value of `stage`, which all of `makers` have, from
/// the first of them to the ranks that read it: one to each rank that has not
/// made it, with the transfer to the nearest reader behind, or else before.
std::vector<Move> findMoves(int64_t stage, const std::vector<int> &makers,
                            const std::vector<ValueReader> &readers);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_MOVES_H
