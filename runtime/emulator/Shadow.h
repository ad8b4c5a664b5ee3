//===- Shadow.h - Who touched a word last, and whether he may ---*- C++ -*-===//
//
// Only barriers order the threads of a launch, so that a thread's time is a
// *stamp*: a number that grows through the life of the process, new for each
// warp whenever a block starts or passes a barrier, and for a warp that passes
// one of its own. All threads of a block are between the same two barriers,
// since the emulator lets none go on before all have come. So two accesses are
//
//   of launches that follow each other  if the older stamp is below the
//   launch's of different blocks, not ordered    if it is below the block's
//   first ordered by a barrier of the block   if it is below the phase's first
//   of one time of one warp             if both stamps are equal
//
// and else of one phase, ordered if and only if they are of one warp.
//
// What lies before a block's last barrier is handed over by a count
// (Handovers.h) to blocks that count behind it: their threads see it behind
// their next barrier.
//
// It is enough to know the last write and the reads since: whatever is ordered
// behind an access is ordered behind all that came before it in this sense.
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

/// A thread at a time: stamp, warp and lane in one word, and what a record says
/// beside.
using Who = uint64_t;
constexpr unsigned stampShift = 20;
constexpr Who warpBits = 31u << 15;
constexpr Who laneBits = 31u << 10;
constexpr Who manyLanes = 1u << 9;   ///< lanes of the warp beside this one
constexpr Who manyWarps = 1u << 8;   ///< other warps of the block, in the phase
constexpr Who otherBlocks = 1u << 7; ///< other blocks of the launch
constexpr Who pending = 1u << 6;     ///< an asynchronous copy is under way
constexpr Who split = 1u << 5;       ///< the bytes have records of their own
constexpr Who atomic = 1u << 4;      ///< the access is one that may meet others

inline uint64_t stampOf(Who who) { return who >> stampShift; }
inline unsigned threadOf(Who who) { return (who >> 10) & 1023; }
inline Who makeWho(uint64_t stamp, unsigned thread) {
  return (stamp << stampShift) | (Who(thread) << 10);
}

/// The last accesses to four bytes, or to one.
struct Cell {
  Who write;
  Who read;                 ///< where `split`: the index of the bytes' records
  uint32_t writeAt, readAt; ///< places in the module's code
};

/// Stamps of blocks: from a block's first to before the one at that key. What
/// is known of a block is what lies before one of its barriers.
using Spans = std::map<uint64_t, uint64_t>;
inline void addSpan(Spans &spans, uint64_t from, uint64_t to) {
  uint64_t &end = spans[from];
  end = std::max(end, to);
}
inline void addSpans(Spans &spans, const Spans &more) {
  for (auto [from, to] : more)
    addSpan(spans, from, to);
}

/// What is compared with the stamps of records.
struct Clock {
  uint64_t next = 1;   ///< not given to anyone yet
  uint64_t launch = 1; ///< the first of this launch
  uint64_t block = 1;  ///< of this block
  uint64_t phase = 1;  ///< since this block's last barrier
  Who me = 0;          ///< the thread that runs
  /// Of other blocks of the launch: what they have handed over to this one.
  Spans received;

  bool hasReceived(uint64_t stamp) const {
    auto later = received.upper_bound(stamp);
    return later != received.begin() && stamp < std::prev(later)->second;
  }

  /// Whether the access of a record and one by `who`, now, are not ordered.
  /// `floor` is `launch`, or `block` for memory that blocks do not share.
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

  /// The record of reads once `who` has read too.
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

/// Records of single bytes, for words whose bytes went different ways. Given
/// back all at once: what a word says of them is void with its stamp.
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
