//===- Planner.cpp - Static memory planner --------------------------------===//

#include "runtime/Planner.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace mlc::runtime {

namespace {

constexpr uint64_t sizeLimit = uint64_t(1) << 62;
/// With more pairs of neighbours, only the free-list plan is made.
constexpr uint64_t pairLimit = 8000000;
constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

/// Items that share one place by takeover, treated as one.
struct Block {
  uint64_t size;
  uint32_t first, last;
};

/// The numbers below `count`, by ascending key, equal keys by number.
template <typename KeyFn>
std::vector<uint32_t> sortedBy(size_t count, KeyFn key) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    auto ka = key(a), kb = key(b);
    return ka != kb ? ka < kb : a < b;
  });
  return order;
}

struct Neighbours {
  std::vector<uint32_t> start; ///< start of block i's list in `list`
  std::vector<uint32_t> list;
};

class Search {
public:
  Search(const std::vector<Block> &blocks, uint64_t lowerBound, uint64_t budget)
      : blocks(blocks), budget(budget), goal(lowerBound + lowerBound / 100) {}

  /// Places all blocks; `offsets` and `peak` are the best found.
  void run();

  std::vector<uint64_t> offsets;
  uint64_t peak = std::numeric_limits<uint64_t>::max();

private:
  bool findNeighbours();
  void placeByFreeList();
  uint64_t place(const std::vector<uint32_t> &order, uint64_t limit,
                 size_t kept);
  void consider(const std::vector<uint32_t> &order, uint64_t limit,
                size_t kept = 0);
  void improve();
  bool done() const { return peak <= goal || spent >= budget; }

  const std::vector<Block> &blocks;
  uint64_t budget, goal, spent = 0;
  Neighbours neighbours;
  // The state of the search: the best order so far with its plan.
  std::vector<uint32_t> walkOrder;
  std::vector<uint64_t> walkOffsets;
  uint64_t walkPeak = std::numeric_limits<uint64_t>::max();
  // Reused by place().
  std::vector<uint64_t> current;
  std::vector<uint8_t> placed;
  std::vector<std::pair<uint64_t, uint64_t>> taken;
};

/// Lists every pair of blocks that live at one time; false if there are too
/// many.
bool Search::findNeighbours() {
  std::vector<uint32_t> byFirst =
      sortedBy(blocks.size(), [&](uint32_t b) { return blocks[b].first; });
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> alive;
  for (uint32_t b : byFirst) {
    alive.erase(std::remove_if(alive.begin(), alive.end(),
                               [&](uint32_t a) {
                                 return blocks[a].last < blocks[b].first;
                               }),
                alive.end());
    if (pairs.size() + alive.size() > pairLimit)
      return false;
    for (uint32_t a : alive)
      pairs.push_back({a, b});
    alive.push_back(b);
  }
  neighbours.start.assign(blocks.size() + 1, 0);
  for (auto [a, b] : pairs) {
    ++neighbours.start[a + 1];
    ++neighbours.start[b + 1];
  }
  std::partial_sum(neighbours.start.begin(), neighbours.start.end(),
                   neighbours.start.begin());
  neighbours.list.resize(2 * pairs.size());
  std::vector<uint32_t> next(neighbours.start.begin(),
                             neighbours.start.end() - 1);
  for (auto [a, b] : pairs) {
    neighbours.list[next[a]++] = b;
    neighbours.list[next[b]++] = a;
  }
  return true;
}

/// Places blocks as they come to life, best fit in a list of free ranges. Fast
/// for any input; the base case for programs too large to search.
void Search::placeByFreeList() {
  std::vector<uint32_t> byFirst =
      sortedBy(blocks.size(), [&](uint32_t b) { return blocks[b].first; });
  std::vector<uint32_t> byLast =
      sortedBy(blocks.size(), [&](uint32_t b) { return blocks[b].last; });
  std::map<uint64_t, uint64_t> freeAt;          // offset -> size
  std::multimap<uint64_t, uint64_t> freeBySize; // size -> offset
  auto remove = [&](uint64_t offset, uint64_t size) {
    freeAt.erase(offset);
    auto range = freeBySize.equal_range(size);
    for (auto it = range.first; it != range.second; ++it)
      if (it->second == offset) {
        freeBySize.erase(it);
        return;
      }
  };
  auto insert = [&](uint64_t offset, uint64_t size) {
    freeAt[offset] = size;
    freeBySize.insert({size, offset});
  };
  uint64_t end = 0;
  size_t dead = 0;
  current.assign(blocks.size(), 0);
  for (uint32_t b : byFirst) {
    for (; dead < byLast.size() && blocks[byLast[dead]].last < blocks[b].first;
         ++dead) {
      uint64_t offset = current[byLast[dead]], size = blocks[byLast[dead]].size;
      auto after = freeAt.find(offset + size);
      if (after != freeAt.end()) {
        uint64_t more = after->second;
        remove(offset + size, more);
        size += more;
      }
      auto before = freeAt.lower_bound(offset);
      if (before != freeAt.begin() &&
          std::prev(before)->first + std::prev(before)->second == offset) {
        auto [start, length] = *std::prev(before);
        remove(start, length);
        offset = start;
        size += length;
      }
      insert(offset, size);
    }
    auto fit = freeBySize.lower_bound(blocks[b].size);
    if (fit != freeBySize.end()) {
      auto [size, offset] = *fit;
      remove(offset, size);
      current[b] = offset;
      if (size > blocks[b].size)
        insert(offset + blocks[b].size, size - blocks[b].size);
    } else {
      current[b] = end;
      end += blocks[b].size;
    }
  }
  offsets = current;
  peak = end;
}

/// Places the blocks in `order`, each in the best-fitting gap between its
/// placed neighbours, the lowest of equal ones. Returns the peak and leaves
/// offsets in `current`. Stops once the peak exceeds `limit`. The first `kept`
/// blocks keep their places of the walk.
uint64_t Search::place(const std::vector<uint32_t> &order, uint64_t limit,
                       size_t kept) {
  std::fill(placed.begin(), placed.end(), 0);
  uint64_t top = 0;
  for (size_t i = 0; i < kept; ++i) {
    uint32_t b = order[i];
    placed[b] = 1;
    current[b] = walkOffsets[b];
    top = std::max(top, current[b] + blocks[b].size);
  }
  for (size_t i = kept; i < order.size(); ++i) {
    uint32_t b = order[i];
    taken.clear();
    uint32_t from = neighbours.start[b], to = neighbours.start[b + 1];
    spent += to - from + 1;
    for (uint32_t e = from; e < to; ++e) {
      uint32_t n = neighbours.list[e];
      if (placed[n])
        taken.push_back({current[n], current[n] + blocks[n].size});
    }
    std::sort(taken.begin(), taken.end());
    uint64_t end = 0, best = 0, bestGap = std::numeric_limits<uint64_t>::max();
    for (auto [low, high] : taken) {
      if (low >= end && low - end >= blocks[b].size && low - end < bestGap) {
        best = end;
        bestGap = low - end;
      }
      end = std::max(end, high);
    }
    if (bestGap == std::numeric_limits<uint64_t>::max())
      best = end;
    current[b] = best;
    placed[b] = 1;
    top = std::max(top, best + blocks[b].size);
    if (top > limit)
      return top;
  }
  return top;
}

/// Tries `order` and continues the walk from it if its peak is at most `limit`.
void Search::consider(const std::vector<uint32_t> &order, uint64_t limit,
                      size_t kept) {
  uint64_t top = place(order, limit, kept);
  if (top > limit)
    return;
  walkPeak = top;
  walkOrder = order;
  walkOffsets = current;
  if (top < peak) {
    peak = top;
    offsets = current;
  }
}

/// Hill climbing on the order: moves a block at the top of the arena, or one of
/// its neighbours, before a block that was placed earlier and lives at the same
/// time (others do not affect it). The pseudo-random choices have a fixed seed.
void Search::improve() {
  uint64_t state = 0x9e3779b97f4a7c15u;
  auto random = [&](uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
  };
  std::vector<uint32_t> order, top, position(blocks.size()), earlier;
  while (!done()) {
    order = walkOrder;
    top.clear();
    for (uint32_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
      if (walkOffsets[order[i]] + blocks[order[i]].size == walkPeak)
        top.push_back(order[i]);
    }
    uint32_t moved = top[random(top.size())];
    uint32_t from = neighbours.start[moved], to = neighbours.start[moved + 1];
    if (to > from && random(2))
      moved = neighbours.list[from + random(to - from)];
    earlier.clear();
    for (uint32_t e = neighbours.start[moved]; e < neighbours.start[moved + 1];
         ++e)
      if (position[neighbours.list[e]] < position[moved])
        earlier.push_back(position[neighbours.list[e]]);
    spent += blocks.size() / 4 + 1;
    if (earlier.empty())
      continue;
    uint32_t at = position[moved], target = earlier[random(earlier.size())];
    std::rotate(order.begin() + target, order.begin() + at,
                order.begin() + at + 1);
    // Sideways moves keep the walk from stopping at a plateau.
    consider(order, walkPeak, target);
  }
}

void Search::run() {
  placeByFreeList();
  if (done() || !findNeighbours())
    return;
  placed.assign(blocks.size(), 0);
  size_t n = blocks.size();

  // Pressure: the most bytes alive at any moment of each block's life.
  std::vector<uint64_t> pressure(n);
  for (size_t b = 0; b < n; ++b) {
    pressure[b] = blocks[b].size;
    for (uint32_t i = neighbours.start[b]; i < neighbours.start[b + 1]; ++i)
      pressure[b] += blocks[neighbours.list[i]].size;
  }
  auto life = [&](uint32_t b) {
    return uint64_t(blocks[b].last) - blocks[b].first + 1;
  };
  // Large keys first; ties go to the larger, then the earlier block.
  using Key = std::pair<double, double>;
  auto tryOrder = [&](auto key) {
    if (!done())
      consider(sortedBy(n,
                        [&](uint32_t b) {
                          auto [first, second] = key(b);
                          return Key(-first, -second);
                        }),
               walkPeak - 1);
  };
  tryOrder([&](uint32_t b) { return Key(blocks[b].size, life(b)); });
  tryOrder([&](uint32_t b) {
    return Key(double(blocks[b].size) * life(b), blocks[b].size);
  });
  tryOrder([&](uint32_t b) { return Key(pressure[b], blocks[b].size); });
  tryOrder([&](uint32_t b) { return Key(life(b), blocks[b].size); });
  tryOrder([&](uint32_t b) { return Key(-double(blocks[b].first), life(b)); });
  tryOrder([&](uint32_t b) { return Key(blocks[b].last, life(b)); });
  improve();
}

/// Unites items by takeover; `blockOf[i]` is item i's block.
std::vector<Block> makeBlocks(const std::vector<PlanItem> &items,
                              const std::vector<uint64_t> &sizes,
                              std::vector<uint32_t> &blockOf) {
  std::vector<uint32_t> order =
      sortedBy(items.size(), [&](uint32_t i) { return items[i].first; });
  std::vector<Block> blocks;
  std::vector<uint8_t> given(items.size(), 0);
  blockOf.assign(items.size(), none);
  for (uint32_t i : order) {
    if (sizes[i] == 0)
      continue;
    for (uint32_t from : items[i].inPlaceOf) {
      if (from >= items.size() || from == i || given[from] ||
          blockOf[from] == none || items[from].last != items[i].first ||
          items[from].first >= items[i].first || sizes[from] != sizes[i])
        continue;
      given[from] = 1;
      blockOf[i] = blockOf[from];
      blocks[blockOf[i]].last =
          std::max(blocks[blockOf[i]].last, items[i].last);
      break;
    }
    if (blockOf[i] == none) {
      blockOf[i] = blocks.size();
      blocks.push_back({sizes[i], items[i].first, items[i].last});
    }
  }
  return blocks;
}

uint64_t largestLiveSet(const std::vector<Block> &blocks) {
  std::vector<std::pair<uint64_t, int64_t>> events;
  for (const Block &b : blocks) {
    // Births are at even times, deaths at the odd time after.
    events.push_back({2 * uint64_t(b.first), int64_t(b.size)});
    events.push_back({2 * uint64_t(b.last) + 1, -int64_t(b.size)});
  }
  std::sort(events.begin(), events.end());
  int64_t alive = 0, most = 0;
  for (auto [time, change] : events) {
    alive += change;
    most = std::max(most, alive);
  }
  return most;
}

} // namespace

MemoryPlan planMemory(const std::vector<PlanItem> &items,
                      const PlanOptions &options) {
  MemoryPlan plan;
  std::vector<uint64_t> sizes(items.size());
  uint64_t total = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    uint64_t size = items[i].size;
    if (size > sizeLimit || items[i].first > items[i].last) {
      plan.ok = false;
      return plan;
    }
    sizes[i] = (size + options.alignment - 1) & ~(options.alignment - 1);
    total += sizes[i];
    if (total > sizeLimit) {
      plan.ok = false;
      return plan;
    }
  }
  std::vector<uint32_t> blockOf;
  std::vector<Block> blocks = makeBlocks(items, sizes, blockOf);
  plan.lowerBound = largestLiveSet(blocks);
  plan.offsets.assign(items.size(), 0);
  if (blocks.empty())
    return plan;
  Search search(blocks, plan.lowerBound, options.budget);
  search.run();
  plan.peak = search.peak;
  for (size_t i = 0; i < items.size(); ++i)
    if (blockOf[i] != none)
      plan.offsets[i] = search.offsets[blockOf[i]];
  return plan;
}

} // namespace mlc::runtime
