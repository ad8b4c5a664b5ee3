
//===----------------------------------------------------------------------===//
// Tiles that turn in shared memory
//===----------------------------------------------------------------------===//
//
// What is written along n and read along m comes as tiles of EDGE x EDGE
// elements: threads that are neighbours read neighbours in m, and find in the
// tile what is theirs by n.

/// A tile in shared memory; a word of padding keeps its columns out of one bank.
template <typename T, int EDGE> struct Tile {
  static constexpr int stride = EDGE + (sizeof(T) < 4 ? 4 / int(sizeof(T)) : 1);
  T *at;

  MLC_DEVICE T get(int m, int n) const { return at[n * stride + m]; }

  /// Brings what lies at `from`, along n `strideN` apart; `countM` and `countN`
  /// are what there is from the tile's begin on.
  template <int THREADS>
  MLC_DEVICE void bring(const T *from, Index strideN, Index countM,
                        Index countN) const {
#pragma unroll 4
    for (int i = 0; i < EDGE * EDGE / THREADS; ++i) {
      const int e = threadIdx.x + i * THREADS;
      const int m = e % EDGE, n = e / EDGE;
      if (m < countM && n < countN)
        at[n * stride + m] = from[m + n * strideN];
    }
  }
};
