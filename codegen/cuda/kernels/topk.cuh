
//===----------------------------------------------------------------------===//
// The k best elements of a row, best first
//===----------------------------------------------------------------------===//

/// A number whose unsigned order is the element's; takes the bits of a float
/// and of infinity. -0 equals 0, and every NaN comes last.
template <typename Key, typename Bits>
MLC_DEVICE Key keyOfFloat(Bits bits, Bits infinity) {
  constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const Bits magnitude = Bits(bits & Bits(~sign));
  if (magnitude > infinity)
    return ~Key(0);
  return bits & sign ? Key(sign - magnitude) : Key(sign) + magnitude;
}
template <typename Key> MLC_DEVICE Key keyOf(float value) {
  return keyOfFloat<Key>(uint32_t(__float_as_int(value)), 0x7f800000u);
}
template <typename Key> MLC_DEVICE Key keyOf(double value) {
  return keyOfFloat<Key>(uint64_t(__double_as_longlong(value)),
                         uint64_t(0x7ff) << 52);
}
template <typename Key> MLC_DEVICE Key keyOf(f16 value) {
  return keyOfFloat<Key>(value.bits, uint16_t(0x7c00));
}
template <typename Key> MLC_DEVICE Key keyOf(bf16 value) {
  return keyOfFloat<Key>(value.bits, uint16_t(0x7f80));
}
template <typename Key, typename Integer> MLC_DEVICE Key keyOf(Integer value) {
  constexpr Key half = Key(1) << (8 * sizeof(Key) - 1);
  return Integer(-1) < Integer(0) ? Key(value) ^ half : Key(value);
}

/// A ranked element: a lower key is better, then a lower index, so that no two
/// are equal and every sort gives the same order. Both have one type, so there
/// is no padding between them.
template <typename Key> struct Ranked {
  Key key, index;
  MLC_DEVICE bool before(const Ranked &other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};

/// The block's shared memory: a word for each warp's vote, and room for
/// CAPACITY ranked elements, a power of two.
///
///   A row that fits there is sorted there. If it is longer and k is at most
///   half of the room, the best so far stay in the room while the row passes
///   through the rest; pieces without a better element are not sorted. For a
///   larger k, pieces are sorted, and the k best of each are merged pairwise in
///   scratch memory.
template <typename T, typename Key, int THREADS, int CAPACITY, bool isLargest>
struct TopK {
  typedef Ranked<Key> Item;

  const T *in;
  T *values;          ///< or null if nothing reads them
  int64_t *positions; ///< or null
  Index length, k, inner;

  MLC_DEVICE static int *votes() {
    return reinterpret_cast<int *>(sharedMemory());
  }
  MLC_DEVICE static Item *room() {
    return reinterpret_cast<Item *>(sharedMemory() + 128);
  }
  MLC_DEVICE Item read(const T *row, Index index) const {
    const Key key = keyOf<Key>(row[index * inner]);
    return {isLargest ? Key(~key) : key, Key(index)};
  }

  /// Whether `mine` holds in any thread of the block. All threads call it.
  MLC_DEVICE static bool any(bool mine) {
    int all = mine;
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
      all |= shuffleXor(all, mask);
    if (threadIdx.x % 32 == 0)
      votes()[threadIdx.x / 32] = all;
    syncBlock();
#pragma unroll
    for (int warp = 0; warp < THREADS / 32; ++warp)
      all |= votes()[warp];
    // All threads must have read before the next vote.
    syncBlock();
    return all;
  }

  MLC_DEVICE static void order(int low, int high, int count) {
    // Elements past the end are the worst and stay there.
    if (high >= count)
      return;
    Item *items = room();
    const Item first = items[low], second = items[high];
    if (second.before(first)) {
      items[low] = second;
      items[high] = first;
    }
  }

  /// Sorts `count` elements in place: a bitonic sort in which every step puts
  /// the better element first, because runs meet their neighbours mirrored.
  MLC_DEVICE static void sort(int count) {
    for (int run = 1; run < count; run *= 2) {
      const int pairs = (count + 2 * run - 1) / (2 * run) * run;
      syncBlock();
      for (int pair = threadIdx.x; pair < pairs; pair += THREADS) {
        const int begin = pair / run * (2 * run), at = pair % run;
        order(begin + at, begin + 2 * run - 1 - at, count);
      }
      for (int apart = run / 2; apart > 0; apart /= 2) {
        syncBlock();
        for (int pair = threadIdx.x; pair < pairs; pair += THREADS) {
          const int low = pair / apart * (2 * apart) + pair % apart;
          order(low, low + apart, count);
        }
      }
    }
    syncBlock();
  }

  /// The k best of a row that passes through shared memory.
  MLC_DEVICE const Item *selectInRoom(const T *row) const {
    Item *items = room();
    int kept = 0;
    for (Index first = 0; first < length;) {
      const int count = int(min(Index(CAPACITY - kept), length - first));
      bool isBetter = kept < k;
      for (int i = threadIdx.x; i < count; i += THREADS) {
        const Item item = read(row, first + i);
        items[kept + i] = item;
        if (kept == k)
          isBetter |= item.before(items[kept - 1]);
      }
      first += count;
      if (any(isBetter)) {
        sort(kept + count);
        kept = int(min(k, Index(kept + count)));
      }
    }
    return items;
  }

  /// The number of elements that the run of `run` elements at `begin` keeps.
  MLC_DEVICE Index keptOf(Index begin, Index run) const {
    return begin < length ? min(k, min(run, length - begin)) : Index(0);
  }

  /// Merges pairs of runs of `run` elements of `from` into runs of twice as
  /// many.
  MLC_DEVICE void merge(const Item *from, Item *to, Index run) const {
    for (Index at = threadIdx.x; at < length; at += THREADS) {
      const Index begin = at & ~(run - 1), other = begin ^ run;
      const Index mine = at - begin;
      if (mine >= keptOf(begin, run))
        continue;
      const Item item = from[at];
      // How many of the other run come before it.
      Index low = 0, high = keptOf(other, run);
      while (low < high) {
        const Index middle = (low + high) / 2;
        if (from[other + middle].before(item))
          low = middle + 1;
        else
          high = middle;
      }
      if (mine + low < k)
        to[min(begin, other) + mine + low] = item;
    }
    syncBlock();
  }

  /// The k best of a row through `scratch`, which has room for two rows.
  MLC_DEVICE const Item *selectByMerging(const T *row, Item *scratch) const {
    Item *items = room(), *from = scratch, *to = scratch + length;
    for (Index first = 0; first < length; first += CAPACITY) {
      const int count = int(min(Index(CAPACITY), length - first));
      for (int i = threadIdx.x; i < count; i += THREADS)
        items[i] = read(row, first + i);
      sort(count);
      for (int i = threadIdx.x; i < count && i < k; i += THREADS)
        from[first + i] = items[i];
      syncBlock();
    }
    for (Index run = CAPACITY; run < length; run *= 2) {
      merge(from, to, run);
      Item *const merged = to;
      to = from;
      from = merged;
    }
    return from;
  }

  /// Ranks row `task`, which runs along the axis; rows are numbered as in
  /// memory.
  MLC_DEVICE void run(Index task, uint8_t *scratch) const {
    if (k <= 0)
      return;
    const Index outer = task / inner, column = task % inner;
    const T *row = in + outer * length * inner + column;
    const bool isShort = length <= CAPACITY || k <= CAPACITY / 2;
    const Item *best =
        isShort ? selectInRoom(row)
                : selectByMerging(row, reinterpret_cast<Item *>(scratch));
    for (Index i = threadIdx.x; i < k; i += THREADS) {
      const Index to = (outer * k + i) * inner + column;
      const Index from = Index(best[i].index);
      if (values)
        values[to] = row[from * inner];
      if (positions)
        positions[to] = from;
    }
    // No barrier: in the next task the thread that read an element here is the
    // first to write it.
  }
};
