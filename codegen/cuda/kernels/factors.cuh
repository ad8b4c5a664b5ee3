
//===----------------------------------------------------------------------===//
// Factors in shared memory, for tensor cores
//===----------------------------------------------------------------------===//
//
// A word is one float32, two 16-bit or four 8-bit neighbours in k, so that all
// types have the same fragments: 16 rows, or 8 columns, by 8 words. A step
// takes 32 words of k. Its tile lies in shared memory in one of two ways:
//
//   rows    32 words of each row (for B: column), for ldmatrix
//   across  a line for each k with its element of each row. A factor that is
//           contiguous along its rows keeps that layout. ldmatrix transposes
//           16-bit elements; float32 is read by 16 bytes, so that a lane gets
//           neighbouring rows
//
// Lines are a power of two long. To spread them over banks, 16-byte chunks are
// exchanged: the number of a chunk in its line is combined by exclusive or
// with a number that depends on the line.

constexpr int wordsOfTile = 32;

/// How a factor gets into shared memory.
enum class CopyMode {
  Elements, ///< element by element, converted
  Words,    ///< asynchronously, 4 bytes at a time; along k alone
  Vectors,  ///< asynchronously, 16 bytes at a time; along k alone
  // The same along rows, of 16 or 32 bits.
  ElementsAcross,
  WordsAcross,
  VectorsAcross
};

/// The bits of an element in memory.
MLC_DEVICE uint32_t bitsOf(f16 value) { return value.bits; }
MLC_DEVICE uint32_t bitsOf(bf16 value) { return value.bits; }
MLC_DEVICE uint32_t bitsOf(float value) { return __float_as_int(value); }
MLC_DEVICE uint32_t bitsOf(int32_t value) { return value; }
MLC_DEVICE uint32_t bitsOf(uint32_t value) { return value; }
MLC_DEVICE uint32_t bitsOf(bool value) { return value; }
MLC_DEVICE uint32_t bitsOf(int16_t value) { return uint16_t(value); }
MLC_DEVICE uint32_t bitsOf(uint16_t value) { return value; }
MLC_DEVICE uint32_t bitsOf(int8_t value) { return uint8_t(value); }
MLC_DEVICE uint32_t bitsOf(uint8_t value) { return value; }

/// The layout of a tile of ROWS rows in shared memory; sizes are in words.
template <int ROWS, CopyMode copyMode, int perWord> struct Layout {
  static constexpr bool isAcross = copyMode == CopyMode::ElementsAcross ||
                                   copyMode == CopyMode::WordsAcross ||
                                   copyMode == CopyMode::VectorsAcross;
  static constexpr int words = ROWS * wordsOfTile;
  /// Elements of a word if lines are across rows, else 0.
  static constexpr int across = isAcross ? perWord : 0;
  /// The length of a line, and its chunks.
  static constexpr int line = isAcross ? ROWS / perWord : wordsOfTile;
  static constexpr int chunks = line / 4;
  static_assert(chunks >= 4 && (chunks & (chunks - 1)) == 0, "a power of two");

  /// What is combined with the numbers of the chunks of a line.
  MLC_DEVICE static int twist(int number) {
    if constexpr (isAcross && perWord == 1)
      return number % 4 * 2;
    else if constexpr (chunks < 8)
      return number / 2 % 4;
    else
      return number % 8;
  }
  /// The place of a word of line `number`.
  MLC_DEVICE static int at(int number, int word) {
    return number * line + ((word / 4) ^ twist(number)) * 4 + word % 4;
  }
  /// The same `lines` lines later. Twists repeat every 8 lines.
  MLC_DEVICE static int after(int at, int number, int word, int lines) {
    return lines % 8 == 0 ? at + lines * line
                          : Layout::at(number + lines, word);
  }
};

/// The same for products of warpgroups: as the copy engine writes it with a
/// swizzle of 128 bytes. Along k that is the layout above; with a line for each
/// k, lines hold 32 words, and those of the next rows come behind all of them.
template <int ROWS, CopyMode copyMode, int perWord>
struct SwizzledLayout : Layout<ROWS, copyMode, perWord> {
  typedef Layout<ROWS, copyMode, perWord> Base;
  static constexpr int line = 32;
  /// From a run of rows to the next, in words.
  static constexpr int run = wordsOfTile * perWord * line;
  MLC_DEVICE static int at(int number, int word) {
    if constexpr (Base::isAcross)
      return word / line * run + number * line +
             ((word % line / 4) ^ number % 8) * 4 + word % 4;
    else
      return Base::at(number, word);
  }
  MLC_DEVICE static int after(int at, int number, int word, int lines) {
    return lines % 8 == 0 ? at + lines * line
                          : SwizzledLayout::at(number + lines, word);
  }
};

/// One thread's share of loading a tile of ROWS rows in each step, in four
/// parts. `start` begins a part. `finish` ends it: elements are in registers
/// meanwhile, so that the time until they come is not lost.
template <int ROWS, int THREADS, CopyMode copyMode, bool alongK, typename Mma,
          typename Side, typename Tile = Layout<ROWS, copyMode, Mma::perWord>,
          bool isAcross = Tile::isAcross>
struct FactorReader {
  static constexpr bool isAsync = copyMode != CopyMode::Elements;
  static constexpr int wide = copyMode == CopyMode::Vectors ? 4 : 1;
  static constexpr int perRow = wordsOfTile / wide;
  static constexpr int loads = ROWS * perRow / THREADS;
  /// Along k, neighbouring threads have neighbouring k and each has several
  /// rows. Otherwise they have neighbouring rows and each has several k.
  static constexpr int numPlaces = alongK ? loads : 1;
  static_assert(alongK ? THREADS % perRow == 0 : THREADS % ROWS == 0,
                "a thread keeps its row or its place in k");
  static_assert(!isAsync || alongK, "copies of rows lie along k");

  Side side;
  typename Side::Place places[numPlaces];
  bool inside[numPlaces];
  uint32_t held[(loads + 3) / 4];
  /// The first word's place in the tile.
  int to;

  /// The first load of a part. Copies are started in two of four parts.
  MLC_DEVICE static constexpr int begin(int part) {
    return loads * (isAsync ? (part + 1) / 2 * 2 : part) / 4;
  }
  MLC_DEVICE static int row(int i) {
    return alongK ? threadIdx.x / perRow + i * (THREADS / perRow)
                  : threadIdx.x % ROWS;
  }
  MLC_DEVICE static int word(int i) {
    return (alongK ? threadIdx.x % perRow
                   : threadIdx.x / ROWS + i * (THREADS / ROWS)) *
           wide;
  }
  MLC_DEVICE FactorReader(Side side, Index batch, Index first)
      : side(side), to(Tile::at(row(0), word(0))) {
#pragma unroll
    for (int i = 0; i < numPlaces; ++i) {
      const Index r = first + row(i);
      inside[i] = side.count() % ROWS == 0 || r < side.count();
      places[i] = side.place(batch, inside[i] ? r : 0);
    }
  }

  /// The place of word `i` in the tile.
  MLC_DEVICE int at(int i) const {
    return alongK ? Tile::after(to, row(0), word(0), row(i) - row(0))
                  : Tile::at(row(i), word(i));
  }

  /// The bits of a word, element by element.
  MLC_DEVICE uint32_t elements(const typename Side::Place &place, bool isRow,
                               Index k) const {
    uint32_t bits = 0;
#pragma unroll
    for (int e = 0; e < Mma::perWord; ++e) {
      const bool isStored = isRow && k + e < side.K();
      bits |= side.bits(place + side.step(isStored ? k + e : 0), isStored)
              << (e * 32 / Mma::perWord);
    }
    return bits;
  }

  MLC_DEVICE void start(uint32_t *tile, Index firstK, int part) {
#pragma unroll
    for (int i = begin(part); i < begin(part + 1); ++i) {
      const Index k = firstK + word(i) * Mma::perWord;
      const int which = alongK ? i : 0;
      if constexpr (isAsync) {
        const bool isStored =
            inside[which] &&
            (side.K() % (wordsOfTile * Mma::perWord) == 0 || k < side.K());
        const auto place = places[which] + side.step(isStored ? k : 0);
        copyAsync<4 * wide, Side::readsAgain>(tile + at(i), side.address(place),
                            isStored && side.inside(place));
      } else {
        held[i - begin(part)] = elements(places[which], inside[which], k);
      }
    }
  }
  MLC_DEVICE void finish(uint32_t *tile, int part) const {
    if constexpr (!isAsync)
#pragma unroll
      for (int i = begin(part); i < begin(part + 1); ++i)
        tile[at(i)] = held[i - begin(part)];
  }
};

/// The same for a factor that is read along rows: each thread has several rows
/// and several k. What copies little at a time has runs of rows in several
/// places, because each k takes divisions.
template <int ROWS, int THREADS, CopyMode copyMode, bool alongK, typename Mma,
          typename Side, typename Tile>
struct FactorReader<ROWS, THREADS, copyMode, alongK, Mma, Side, Tile, true> {
  static constexpr bool isAsync = copyMode != CopyMode::ElementsAcross;
  static constexpr int words = copyMode == CopyMode::VectorsAcross ? 4 : 1;
  /// Neighbouring rows of a thread, and how many runs of them.
  static constexpr int wide = words * Mma::perWord;
  static constexpr int most = 4 / Mma::perWord, fitting = ROWS / wide / 32;
  static constexpr int runs = words == 4 || fitting < 1 ? 1
                              : fitting < most          ? fitting
                                                        : most;
  static constexpr int perLine = ROWS / wide / runs;
  static constexpr int lines = wordsOfTile * Mma::perWord;
  static constexpr int apart = THREADS / perLine, loads = lines / apart;
  /// A copy has one place, elements have their own.
  static constexpr int perRun = isAsync ? 1 : wide, numPlaces = runs * perRun;
  static_assert(Mma::perWord <= 2 && !alongK, "of 16 or 32 bits, along rows");
  static_assert(THREADS % perLine == 0 && lines % apart == 0,
                "a thread keeps its rows");

  Side side;
  typename Side::Place places[numPlaces];
  bool inside[numPlaces];
  uint32_t held[(loads + 3) / 4][runs];
  int to;

  /// The first load of a part. Copies are started in two of four parts.
  MLC_DEVICE static constexpr int begin(int part) {
    return loads * (isAsync ? (part + 1) / 2 * 2 : part) / 4;
  }
  MLC_DEVICE static int row() { return threadIdx.x % perLine * wide; }
  /// The distance of runs.
  static constexpr int far = ROWS / runs;
  MLC_DEVICE static int line(int i) {
    return threadIdx.x / perLine + i * apart;
  }
  MLC_DEVICE int at(int i, int run) const {
    return Tile::after(to, line(0), row() / Mma::perWord, i * apart) +
           run * far / Mma::perWord;
  }
  MLC_DEVICE FactorReader(Side side, Index batch, Index first)
      : side(side), to(Tile::at(line(0), row() / Mma::perWord)) {
#pragma unroll
    for (int e = 0; e < numPlaces; ++e) {
      const Index r = first + row() + e / perRun * far + e % perRun;
      inside[e] = side.count() % ROWS == 0 || r < side.count();
      places[e] = side.place(batch, inside[e] ? r : 0);
    }
  }

  MLC_DEVICE void start(uint32_t *tile, Index firstK, int part) {
#pragma unroll
    for (int i = begin(part); i < begin(part + 1); ++i) {
      const Index k = firstK + line(i);
      const bool isK = side.K() % lines == 0 || k < side.K();
      const auto step = side.step(isK ? k : 0);
#pragma unroll
      for (int run = 0; run < runs; ++run) {
        if constexpr (isAsync) {
          const auto place = places[run] + step;
          copyAsync<4 * words, Side::readsAgain>(tile + at(i, run), side.address(place),
                               isK && inside[run] && side.inside(place));
        } else {
          uint32_t bits = 0;
#pragma unroll
          for (int e = 0; e < perRun; ++e)
            bits |= side.bits(places[run * perRun + e] + step,
                              isK && inside[run * perRun + e])
                    << (e * 32 / Mma::perWord);
          held[i - begin(part)][run] = bits;
        }
      }
    }
  }
  MLC_DEVICE void finish(uint32_t *tile, int part) const {
    if constexpr (!isAsync)
#pragma unroll
      for (int i = begin(part); i < begin(part + 1); ++i)
#pragma unroll
        for (int run = 0; run < runs; ++run)
          tile[at(i, run)] = held[i - begin(part)][run];
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// F fragments of A (`isTall`), of 16 rows, or F pairs of fragments of B, of 8
/// columns, from a row on that is a multiple of 16 * F.
template <typename Tile, bool isTall, int F, int across = Tile::across>
struct Fragments {
  /// How many neighbouring rows a lane has; 1: rows are in the order of the
  /// PTX ISA.
  static constexpr int together = 1;
  int first;

  // Four 8 x 8 matrices: of A the second is the next rows, the third the next
  // words of k; of B the other way round.
  MLC_DEVICE explicit Fragments(int row) {
    const int lane = threadIdx.x % 32;
    const int second = lane / 8 % 2, third = lane / 16;
    first = Tile::at(row + (isTall ? second : third) * 8 + lane % 8,
                     (isTall ? third : second) * 4);
  }
  /// Those of words 8 * k to 8 * k + 7.
  MLC_DEVICE void load(uint32_t (&to)[F][4], const uint32_t *tile,
                       int k) const {
#pragma unroll
    for (int i = 0; i < F; ++i)
      loadMatrices(to[i], tile + (first ^ k * 8) + i * 16 * Tile::line);
  }
};

/// The same of 16-bit elements, with a line for each k.
template <typename Tile, bool isTall, int F>
struct Fragments<Tile, isTall, F, 2> {
  static constexpr int together = 1;
  int first[F];

  MLC_DEVICE explicit Fragments(int row) {
    const int lane = threadIdx.x % 32;
    const int second = lane / 8 % 2, third = lane / 16;
#pragma unroll
    for (int i = 0; i < F; ++i)
      first[i] = Tile::at((isTall ? third : second) * 8 + lane % 8,
                          (row + (isTall ? second : third) * 8 + i * 16) / 2);
  }
  MLC_DEVICE void load(uint32_t (&to)[F][4], const uint32_t *tile,
                       int k) const {
#pragma unroll
    for (int i = 0; i < F; ++i)
      loadMatricesTransposed(to[i], tile + first[i] + k * 16 * Tile::line);
  }
};

/// The same of float32, with a line for each k: a lane reads neighbouring rows
/// at once, for several fragments.
template <typename Tile, bool isTall, int F>
struct Fragments<Tile, isTall, F, 1> {
  static constexpr int together = F % 2 == 0 ? 4 : 2;
  int first;

  MLC_DEVICE explicit Fragments(int row) {
    const int lane = threadIdx.x % 32;
    first = Tile::at(lane % 4, row + lane / 4 * together);
  }
  MLC_DEVICE void load(uint32_t (&to)[F][4], const uint32_t *tile,
                       int k) const {
#pragma unroll
    for (int i = 0; i < F; i += together / 2)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const auto rows = loadVector<together>(
            tile + first + i * 16 + (k * 8 + half * 4) * Tile::line);
#pragma unroll
        for (int e = 0; e < together; ++e)
          to[i + e / 2][isTall ? half * 2 + e % 2 : e % 2 * 2 + half] =
              rows.at[e];
      }
  }
};

/// The row of the tile, from the warp's first on, of row `r` of fragment `i` of
/// A, if a lane has `together` neighbours.
template <int together> MLC_DEVICE int rowOfFragment(int i, int r) {
  if constexpr (together == 1) {
    return i * 16 + r;
  } else {
    // Two of them are of one fragment.
    constexpr int each = together / 2;
    return i / each * 8 * together + r % 8 * together + i % each * 2 + r / 8;
  }
}
