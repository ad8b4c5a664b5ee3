
//===----------------------------------------------------------------------===//
// Contractions on tensor cores
//===----------------------------------------------------------------------===//
//
// Tiles are rows of words along k in shared memory. A word is one float32, or
// two 16-bit neighbours in k, so that all types have the same fragments: 16
// rows, or 8 columns, by 8 words. A row of 32 words takes 36, so that the rows
// that ldmatrix reads together are in different banks. A 16-bit factor that is
// contiguous along its rows (for B: columns) keeps that layout in shared
// memory: one row per k, which ldmatrix transposes.

constexpr int wordsOfTile = 32, wordsOfRow = 36;

/// How a factor gets into shared memory.
enum class CopyMode {
  Elements, ///< element by element, converted
  Words,    ///< asynchronously, 4 bytes at a time
  Vectors,  ///< asynchronously, 16 bytes at a time; along k alone
  // The same along rows, of 16 bits.
  WordsAcross,
  VectorsAcross
};

/// The layout of a tile of ROWS rows in shared memory; sizes are in words.
template <int ROWS, CopyMode copyMode> struct Layout {
  static constexpr bool isAcross =
      copyMode == CopyMode::WordsAcross || copyMode == CopyMode::VectorsAcross;
  /// The distance of rows along k, or of steps of k along rows.
  static constexpr int stride = isAcross ? ROWS / 2 + 4 : wordsOfRow;
  static constexpr int words = stride * (isAcross ? 2 * wordsOfTile : ROWS);
};

/// One thread's share of loading a tile of ROWS rows in each step.
template <int ROWS, int THREADS, CopyMode copyMode, bool alongK, typename Mma,
          typename Side, bool isAcross = Layout<ROWS, copyMode>::isAcross>
struct WordReader {
  static constexpr int wide = copyMode == CopyMode::Vectors ? 4 : 1;
  static constexpr int perRow = wordsOfTile / wide;
  static constexpr int loads = ROWS * perRow / THREADS;
  /// Along k, neighbouring threads have neighbouring k and each has several
  /// rows. Otherwise they have neighbouring rows and each has several k.
  static constexpr int numPlaces = alongK ? loads : 1;
  static_assert(alongK ? THREADS % perRow == 0 : THREADS % ROWS == 0,
                "a thread keeps its row or its place in k");
  static_assert(copyMode != CopyMode::Vectors || alongK, "vectors lie along k");

  Side side;
  typename Side::Place places[numPlaces];
  bool inside[numPlaces];

  MLC_DEVICE static int row(int i) {
    return alongK ? threadIdx.x / perRow + i * (THREADS / perRow)
                      : threadIdx.x % ROWS;
  }
  MLC_DEVICE static int word(int i) {
    return (alongK ? threadIdx.x % perRow
                       : threadIdx.x / ROWS + i * (THREADS / ROWS)) *
           wide;
  }
  MLC_DEVICE WordReader(Side side, Index batch, Index first) : side(side) {
#pragma unroll
    for (int i = 0; i < numPlaces; ++i) {
      const Index r = first + row(i);
      inside[i] = r < side.count();
      places[i] = side.place(batch, inside[i] ? r : 0);
    }
  }

  /// The bits of a word, element by element.
  MLC_DEVICE uint32_t elements(const typename Side::Place &place,
                               bool isRow, Index k) const {
    uint32_t bits = 0;
#pragma unroll
    for (int e = 0; e < Mma::perWord; ++e)
      if (isRow && k + e < side.K())
        bits |= Mma::bits(side.load(place + side.step(k + e)))
                << (e * 32 / Mma::perWord);
    return bits;
  }

  MLC_DEVICE void readWord(uint32_t *tile, Index firstK, int i,
                           int which) const {
    const Index k = firstK + word(i) * Mma::perWord;
    uint32_t *to = tile + row(i) * wordsOfRow + word(i);
    if constexpr (copyMode == CopyMode::Elements) {
      *to = elements(places[which], inside[which], k);
    } else {
      const bool isStored = inside[which] && k < side.K();
      const auto at = places[which] + side.step(isStored ? k : 0);
      copyAsync<4 * wide>(to, side.address(at), isStored && side.inside(at));
    }
  }

  /// Starts to fill `tile` from `firstK` on.
  MLC_DEVICE void read(uint32_t *tile, Index firstK) const {
    if constexpr (alongK) {
      // k is the same for all rows, whose places stay in registers.
#pragma unroll
      for (int i = 0; i < loads; ++i)
        readWord(tile, firstK, i, i);
    } else {
      // Each k takes divisions; many at once take many registers.
#pragma unroll 4
      for (int i = 0; i < loads; ++i)
        readWord(tile, firstK, i, 0);
    }
  }
};

/// The same for a factor that is contiguous along rows: each thread has several
/// rows and several k.
template <int ROWS, int THREADS, CopyMode copyMode, bool alongK, typename Mma,
          typename Side>
struct WordReader<ROWS, THREADS, copyMode, alongK, Mma, Side, true> {
  static constexpr int bytes = copyMode == CopyMode::VectorsAcross ? 16 : 4;
  static constexpr int wide = bytes / 2, perPlace = ROWS / wide;
  static constexpr int places = 2 * wordsOfTile, apart = THREADS / perPlace;
  static constexpr int loads = places / apart;
  static_assert(Mma::perWord == 2 && !alongK, "of 16 bits, along rows");
  static_assert(THREADS % perPlace == 0 && places % apart == 0,
                "a thread keeps its rows");

  Side side;
  typename Side::Place place;
  bool isInside;

  MLC_DEVICE static int row() { return threadIdx.x % perPlace * wide; }
  MLC_DEVICE WordReader(Side side, Index batch, Index first) : side(side) {
    const Index r = first + row();
    isInside = r < side.count();
    place = side.place(batch, isInside ? r : 0);
  }
  MLC_DEVICE void read(uint32_t *tile, Index firstK) const {
#pragma unroll 4
    for (int i = 0; i < loads; ++i) {
      const int slot = threadIdx.x / perPlace + i * apart;
      const Index k = firstK + slot;
      const bool isStored = isInside && k < side.K();
      const auto at = place + side.step(isStored ? k : 0);
      copyAsync<bytes>(tile + slot * Layout<ROWS, copyMode>::stride + row() / 2,
                       side.address(at), isStored && side.inside(at));
    }
  }
};

/// Four 8 x 8 matrices of a tile, from row `row` and word `word` of k on, as
/// fragments have them: of A (`isTall`) the second is the next rows, the third
/// the next words of k; of B the other copyMode round.
template <typename Layout, bool isTall>
MLC_DEVICE void loadFragments(uint32_t (&to)[4], const uint32_t *tile, int row,
                              int word) {
  const int lane = threadIdx.x % 32;
  const int second = lane / 8 % 2, third = lane / 16;
  const int rows = (isTall ? second : third) * 8;
  const int words = (isTall ? third : second) * 4;
  if constexpr (Layout::isAcross)
    loadMatricesTransposed(
        to, tile + ((word + words) * 2 + lane % 8) * Layout::stride +
                (row + rows) / 2);
  else
    loadMatrices(to, tile + (row + rows + lane % 8) * Layout::stride + word +
                         words);
}

/// Tile of `task`: a block of WM * WN warps computes BM x BN;
/// `Mma::run(d, a, b)` adds the product of a fragment of A and one of B.
template <int BM, int BN, int WM, int WN, int STAGES, typename Mma, CopyMode copyModeA,
          bool aAlongK, CopyMode copyModeB, bool bAlongK, typename Problem>
MLC_DEVICE void multiplyTileByWarps(const Problem &problem, long long task,
                                    uint8_t *workspace) {
  constexpr int threads = 32 * WM * WN;
  constexpr int warpM = BM / WM, warpN = BN / WN;
  constexpr int fragmentsM = warpM / 16, fragmentsN = warpN / 8;
  static_assert(fragmentsN % 2 == 0, "columns are loaded two fragments a time");
  typedef Layout<BM, copyModeA> LayoutA;
  typedef Layout<BN, copyModeB> LayoutB;
  constexpr int wordsA = LayoutA::words, wordsB = LayoutB::words;
  constexpr int step = wordsOfTile * Mma::perWord;

  uint32_t *tiles = reinterpret_cast<uint32_t *>(sharedMemory());
  const TileOfTask<BM, BN, step> tile(problem, task);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int rowOfWarp = warp / WN * warpM, columnOfWarp = warp % WN * warpN;

  const WordReader<BM, threads, copyModeA, aAlongK, Mma, SideA<Problem>> readA(
      {problem}, tile.batch, tile.firstM);
  const WordReader<BN, threads, copyModeB, bAlongK, Mma, SideB<Problem>> readB(
      {problem}, tile.batch, tile.firstN);
  auto fetch = [&](Index s) {
    if (s < tile.end) {
      uint32_t *to = tiles + int(s % STAGES) * (wordsA + wordsB);
      readA.read(to, s * step);
      readB.read(to + wordsA, s * step);
    }
    commitCopies();
  };

  typename Mma::Sum sums[fragmentsM][fragmentsN][4];
#pragma unroll
  for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < fragmentsN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sums[i][j][e] = 0;

#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s)
    fetch(tile.begin + s);
  for (Index s = tile.begin; s < tile.end; ++s) {
    waitForCopies<STAGES - 2>();
    // All threads see the tile of step s and have read the one that is
    // overwritten next.
    syncBlock();
    fetch(s + STAGES - 1);
    const uint32_t *tileA = tiles + int(s % STAGES) * (wordsA + wordsB);
    const uint32_t *tileB = tileA + wordsA;
#pragma unroll
    for (int k = 0; k < wordsOfTile; k += 8) {
      uint32_t a[fragmentsM][4], b[fragmentsN][2];
#pragma unroll
      for (int i = 0; i < fragmentsM; ++i)
        loadFragments<LayoutA, true>(a[i], tileA, rowOfWarp + i * 16, k);
#pragma unroll
      for (int j = 0; j < fragmentsN; j += 2) {
        uint32_t both[4];
        loadFragments<LayoutB, false>(both, tileB, columnOfWarp + j * 8, k);
        b[j][0] = both[0];
        b[j][1] = both[1];
        b[j + 1][0] = both[2];
        b[j + 1][1] = both[3];
      }
      Mma::prepare(a);
      Mma::prepare(b);
#pragma unroll
      for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
        for (int j = 0; j < fragmentsN; ++j)
          Mma::run(sums[i][j], a[i], b[j]);
    }
  }
  // No copy is in flight: the groups after the last step are empty. All threads
  // must have read the tiles before the next task fills them.
  if (problem.parts() == 1)
    syncBlock();
  else if (!addParts<typename Mma::Sum, threads, fragmentsM * fragmentsN * 4>(
          [&](int e) -> typename Mma::Sum & {
            return sums[e / (fragmentsN * 4)][e / 4 % fragmentsN][e % 4];
          },
          int(problem.parts()), workspace, task))
    return;
#pragma unroll
  for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < fragmentsN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Index m =
            tile.firstM + rowOfWarp + i * 16 + lane / 4 + e / 2 * 8;
        const Index n =
            tile.firstN + columnOfWarp + j * 8 + lane % 4 * 2 + e % 2;
        if (m < problem.rows() && n < problem.columns())
          problem.finish(tile.batch, m, n, sums[i][j][e]);
      }
}

/// float32, its factors rounded to tf32.
struct MmaTF32 {
  using Sum = float;
  static constexpr int perWord = 1;
  MLC_DEVICE static uint32_t bits(float value) {
    return __float_as_int(value);
  }
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&words)[N][M]) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int j = 0; j < M; ++j)
        words[i][j] = toTF32(__int_as_float(words[i][j]));
  }
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddTF32(d, a, b);
  }
};

struct MmaF16 {
  using Sum = float;
  static constexpr int perWord = 2;
  MLC_DEVICE static uint32_t bits(float value) { return toF16(value).bits; }
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddF16(d, a, b);
  }
};

struct MmaBF16 {
  using Sum = float;
  static constexpr int perWord = 2;
  MLC_DEVICE static uint32_t bits(float value) { return toBF16(value).bits; }
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddBF16(d, a, b);
  }
};

/// Signed or unsigned bytes, with sums of 32-bit integers.
template <bool aSigned, bool bSigned> struct MmaBytes {
  using Sum = int;
  static constexpr int perWord = 4;
  MLC_DEVICE static uint32_t bits(int value) { return uint8_t(value); }
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(int (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddBytes<aSigned, bSigned>(d, a, b);
  }
};
