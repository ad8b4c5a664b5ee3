//===- Shadow.h - The last accesses to each word ----------------*- C++ -*-===//
//
// Only barriers order the threads of a launch, so a thread's time is a *stamp*.
// It grows over the life of the process: a warp gets a new one whenever a block
// starts or passes a barrier, and when the warp passes one of its own. All
// threads of a block are between the same two barriers, since none goes on
// before all have arrived. So two accesses are
//
//   ordered, of different launches       if the older stamp is below the
//                                        launch's first,
//   unordered, of different blocks       if it is below the block's first,
//   ordered by a barrier of the block    if it is below the phase's first,
//   of one warp between two barriers     if both stamps are equal,
//
// and else of one phase, and ordered if and only if they are of one warp.
//
// Kernels with finer barriers are ordered by Order.h instead.
//
// A count hands over a block's accesses before its last barrier to blocks that
// count later (Handovers.h): their threads see them after their next barrier.
//
// It suffices to know the last write and the reads since: an access ordered
// after another is also ordered after all that precede that one in this order.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_EMULATOR_SHADOW_H
#define MLC_RUNTIME_EMULATOR_SHADOW_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

namespace mlc::emulator {

/// A thread at a time: stamp, warp and lane in one word, with flags of records.
using Who = uint64_t;
constexpr unsigned stampShift = 20;
constexpr Who warpBits = 31u << 15;
constexpr Who laneBits = 31u << 10;
constexpr Who manyLanes = 1u << 9;    ///< more lanes of the warp
constexpr Who manyWarps = 1u << 8;    ///< more warps of the block, in the phase
constexpr Who otherBlocks = 1u << 7;  ///< more blocks of the launch
constexpr Who pending = 1u << 6;      ///< an asynchronous copy is under way
constexpr Who split = 1u << 5;        ///< bytes have their own records
constexpr Who atomic = 1u << 4;       ///< an atomic access
constexpr Who asynchronous = 1u << 3; ///< by an actor, not a thread (Order.h)

inline uint64_t stampOf(Who who) { return who >> stampShift; }
inline unsigned threadOf(Who who) { return (who >> 10) & 1023; }
inline Who makeWho(uint64_t stamp, unsigned thread) {
  return (stamp << stampShift) | (Who(thread) << 10);
}

/// The last accesses to four bytes, or to one.
struct Cell {
  Who write;
  Who read;                 ///< if `split`: the index of the bytes' records
  uint32_t writeAt, readAt; ///< places in the module's code
};

/// Ranges of stamps: from a block's first stamp up to one of its barriers,
/// exclusive; a map from begin to end.
using Spans = std::map<uint64_t, uint64_t>;
inline void addSpan(Spans &spans, uint64_t from, uint64_t to) {
  uint64_t &end = spans[from];
  end = std::max(end, to);
}
inline void addSpans(Spans &spans, const Spans &more) {
  for (auto [from, to] : more)
    addSpan(spans, from, to);
}

/// The current times, which are compared with the stamps of records.
struct Clock {
  uint64_t next = 1;   ///< the next free stamp
  uint64_t launch = 1; ///< the first of this launch
  uint64_t block = 1;  ///< of this block
  uint64_t phase = 1;  ///< since this block's last barrier
  Who me = 0;          ///< the running thread
  /// Spans that other blocks of the launch handed over to this one.
  Spans received;

  bool hasReceived(uint64_t stamp) const {
    auto later = received.upper_bound(stamp);
    return later != received.begin() && stamp < std::prev(later)->second;
  }

  /// Whether a recorded access and one by `who` now are unordered. `floor` is
  /// `launch`, or `block` for memory that blocks do not share.
  bool unordered(Who record, Who who, uint64_t floor) const {
    uint64_t stamp = stampOf(record);
    if (stamp < floor)
      return false;
    if (record & otherBlocks)
      return true;
    if (stamp < phase)
      return stamp < block && !hasReceived(stamp);
    if ((record ^ who) & (warpBits | manyWarps))
      return true;
    return stamp == stampOf(who) && ((record ^ who) & (laneBits | manyLanes));
  }

  /// The record of reads after `who` has read too.
  Who addRead(Who record, Who who, uint64_t floor) const {
    uint64_t stamp = stampOf(record);
    if (stamp < floor)
      return who;
    Who result = who | (record & otherBlocks);
    if (stamp < block)
      return hasReceived(stamp) ? result : result | otherBlocks;
    if (stamp < phase)
      return result;
    result |= record & manyWarps;
    if ((record ^ who) & warpBits)
      return result | manyWarps;
    if (stamp == stampOf(who) && ((record ^ who) & (laneBits | manyLanes)))
      result |= manyLanes;
    return result;
  }
};

/// Records of single bytes, for words whose bytes differ. They are freed all at
/// once; the stamp in a word tells whether its index is still valid.
class SplitCells {
public:
  void clear() { used = 0; }
  /// Four cells; the index goes into Cell::read.
  uint64_t add() {
    if (used == blocks.size() * blockSize)
      blocks.push_back(std::make_unique<Cell[]>(4 * blockSize));
    return used++;
  }
  Cell *at(uint64_t index) {
    return &blocks[index / blockSize][4 * (index % blockSize)];
  }

private:
  static constexpr uint64_t blockSize = 4096;
  std::vector<std::unique_ptr<Cell[]>> blocks;
  uint64_t used = 0;
};

} // namespace mlc::emulator

#endif // MLC_RUNTIME_EMULATOR_SHADOW_H
