
//===----------------------------------------------------------------------===//
// Tiles transposed in shared memory
//===----------------------------------------------------------------------===//
//
// Data that is read along m and written along n is staged in tiles of EDGE x
// EDGE elements: neighbouring threads read neighbours in m, then take their
// elements along n from the tile.

/// A tile in shared memory; a word of padding spreads its columns over banks.
template <typename T, int EDGE> struct Tile {
  static constexpr int stride = EDGE + (sizeof(T) < 4 ? 4 / int(sizeof(T)) : 1);
  T *at;

  MLC_DEVICE T get(int m, int n) const { return at[n * stride + m]; }

  /// Loads the tile from `from`, with stride `strideN` along n; `countM` and
  /// `countN` are the elements left from the tile's start.
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
