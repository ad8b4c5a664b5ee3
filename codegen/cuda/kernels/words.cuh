
//===----------------------------------------------------------------------===//
// Tiles by words
//===----------------------------------------------------------------------===//
//
// Elements of 32 bits or fewer in tiles of WORDS words x EDGE: a word holds
// neighbours in m. Both sides move vectors. A thread takes the words of WIDTH
// neighbours in n, and so has a vector along n for each element of a word.

template <typename T, int WORDS> struct WordTile {
  static constexpr int ofWord = 4 / int(sizeof(T)), edge = WORDS * ofWord;
  /// A part has 32 words of each row. In words; one of padding spreads columns
  /// over banks, two more spread the rows of two parts.
  static constexpr int stride = 33, part = stride * edge + 2;
  Vector<T, ofWord> *at;

  static MLC_DEVICE unsigned placeOf(unsigned word, unsigned n) {
    return word / 32 * part + n * stride + word % 32;
  }
  /// The word `number` columns behind column `n`.
  MLC_DEVICE Vector<T, ofWord> get(int word, int n, int number) const {
    return (at + placeOf(word, n))[number * stride];
  }

  /// Loads the tile from `from` in vectors of WIDTH, with stride `strideN` along
  /// n; `countM` and `countN` are the elements left from the tile's start.
  template <int THREADS, int WIDTH>
  MLC_DEVICE void bring(const T *from, Index strideN, Index countM,
                        Index countN) const {
    // A thread's vectors lie below each other.
    constexpr int vectors = edge / WIDTH, words = WIDTH / ofWord;
    constexpr int rows = THREADS / vectors;
    static_assert(THREADS % vectors == 0, "threads read whole rows");
    const int m = threadIdx.x % vectors * WIDTH, n = threadIdx.x / vectors;
    Vector<T, ofWord> *const place = at + placeOf(m / ofWord, n);
#pragma unroll
    for (int i = 0; i < edge / rows; ++i) {
      if (m < countM && n + i * rows < countN) {
        const auto read = loadVector<WIDTH>(from + m + (n + i * rows) * strideN);
#pragma unroll
        for (int w = 0; w < words; ++w) {
          Vector<T, ofWord> word;
#pragma unroll
          for (int g = 0; g < ofWord; ++g)
            word.at[g] = read.at[w * ofWord + g];
          place[i * rows * stride + w] = word;
        }
      }
    }
  }
};

/// The word and the first n of what a thread takes in turn `i`: a warp takes
/// WIDTH words of 32 / WIDTH vectors, which lie in different banks.
template <int WORDS, int WIDTH> MLC_DEVICE int wordOf(unsigned i) {
  return (i / 32) % (WORDS / WIDTH) * WIDTH + i % WIDTH;
}
template <int WORDS, int WIDTH> MLC_DEVICE int firstOf(unsigned i) {
  return ((i / 32) / (WORDS / WIDTH) * (32 / WIDTH) + i % 32 / WIDTH) * WIDTH;
}

