
//===----------------------------------------------------------------------===//
// Tiles of narrow elements, by words
//===----------------------------------------------------------------------===//
//
// Elements of 16 or 8 bits in tiles of 32 words x EDGE: a word holds neighbours
// in m. Both sides move vectors. A thread takes the words of WIDTH neighbours in
// n, and so has a vector along n for each element of a word.

template <typename T> struct WordTile {
  static constexpr int ofWord = 4 / int(sizeof(T)), edge = 32 * ofWord;
  /// In words; one of padding spreads columns over banks.
  static constexpr int stride = 33;
  Vector<T, ofWord> *at;

  MLC_DEVICE Vector<T, ofWord> get(int word, int n) const {
    return at[n * stride + word];
  }

  /// Loads the tile from `from` in vectors of WIDTH, with stride `strideN` along
  /// n; `countM` and `countN` are the elements left from the tile's start.
  template <int THREADS, int WIDTH>
  MLC_DEVICE void bring(const T *from, Index strideN, Index countM,
                        Index countN) const {
    constexpr int vectors = edge / WIDTH, words = WIDTH / ofWord;
#pragma unroll
    for (int i = 0; i < vectors * edge / THREADS; ++i) {
      const int e = threadIdx.x + i * THREADS;
      const int m = e % vectors * WIDTH, n = e / vectors;
      if (m < countM && n < countN) {
        const Vector<T, WIDTH> read = loadVector<WIDTH>(from + m + n * strideN);
#pragma unroll
        for (int w = 0; w < words; ++w) {
          Vector<T, ofWord> word;
#pragma unroll
          for (int g = 0; g < ofWord; ++g)
            word.at[g] = read.at[w * ofWord + g];
          at[n * stride + m / ofWord + w] = word;
        }
      }
    }
  }
};

/// The word and the first n of what a thread takes in turn `i`: a warp takes
/// WIDTH words of 32 / WIDTH vectors, which lie in different banks.
template <int WIDTH> MLC_DEVICE int wordOf(int i) {
  return (i / 32) % (32 / WIDTH) * WIDTH + i % WIDTH;
}
template <int WIDTH> MLC_DEVICE int firstOf(int i) {
  return ((i / 32) / (32 / WIDTH) * (32 / WIDTH) + i % 32 / WIDTH) * WIDTH;
}
