
//===----------------------------------------------------------------------===//
// Contractions on tensor cores
//===----------------------------------------------------------------------===//
//
// Tiles lie in shared memory as rows of words along k: a word is one float32,
// or two neighbours in k of 16 bits, so that all types have fragments of one
// form: 16 rows, or 8 columns, by 8 words. A row of 32 words takes 36, so that
// the rows that ldmatrix reads together lie in different banks.

constexpr int wordsOfTile = 32, wordsOfRow = 36;

/// How a factor gets into shared memory.
enum class Way {
  Elements, ///< element by element, converted
  Words,    ///< asynchronously, 4 bytes at a time
  Vectors   ///< asynchronously, 16 bytes at a time; along k alone
};

/// What one thread brings of a tile of ROWS rows, in every step.
///
/// Side: count() and depth(), how many rows and k there are; offset(batch, row);
/// at(k); word(offset, k), the bits of a word from element k on; address(offset)
template <int ROWS, int THREADS, Way way, bool alongDepth, typename Side>
struct TileReader {
  static constexpr int wide = way == Way::Vectors ? 4 : 1;
  static constexpr int perRow = wordsOfTile / wide;
  static constexpr int loads = ROWS * perRow / THREADS;
  /// Along k: threads are neighbours in k, and each has several rows. Else they
  /// are neighbours in rows, and each has several places in k.
  static constexpr int numOffsets = alongDepth ? loads : 1;
  static_assert(alongDepth ? THREADS % perRow == 0 : THREADS % ROWS == 0,
                "a thread keeps its row or its place in k");
  static_assert(way != Way::Vectors || alongDepth, "vectors lie along k");

  Side side;
  Index offsets[numOffsets];
  bool inside[numOffsets];

  MLC_DEVICE static int row(int i) {
    return alongDepth ? threadIdx.x / perRow + i * (THREADS / perRow)
                      : threadIdx.x % ROWS;
  }
  MLC_DEVICE static int word(int i) {
    return (alongDepth ? threadIdx.x % perRow
                       : threadIdx.x / ROWS + i * (THREADS / ROWS)) *
           wide;
  }

  MLC_DEVICE TileReader(Side side, Index batch, Index first) : side(side) {
#pragma unroll
    for (int i = 0; i < numOffsets; ++i) {
      const Index r = first + row(i);
      inside[i] = r < side.count();
      offsets[i] = inside[i] ? side.offset(batch, r) : 0;
    }
  }

  /// Begins to fill `tile` with what lies from `firstK` on.
  MLC_DEVICE void read(uint32_t *tile, Index firstK) const {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const int which = alongDepth ? i : 0;
      const Index k = firstK + word(i) * Side::perWord;
      const bool valid = inside[which] && k < side.depth();
      uint32_t *to = tile + row(i) * wordsOfRow + word(i);
      const Index from = valid ? offsets[which] + side.at(k) : 0;
      if constexpr (way == Way::Elements)
        *to = valid ? side.word(offsets[which], k) : 0;
      else
        copyAsync<4 * wide>(to, side.address(from), valid);
    }
  }
};

/// Tile `task` of the products of a batch of matrices, as multiplyTile has it.
/// A block of WM * WN warps computes BM x BN; `Mma::run(d, a, b)` adds the
/// product of a fragment of A and one of B.
template <int BM, int BN, int WM, int WN, int STAGES, typename Mma, Way wayA,
          bool aAlongDepth, Way wayB, bool bAlongDepth, typename Problem>
MLC_DEVICE void multiplyTileByWarps(const Problem &problem, long long task) {
  constexpr int threads = 32 * WM * WN;
  constexpr int warpM = BM / WM, warpN = BN / WN;
  constexpr int fragmentsM = warpM / 16, fragmentsN = warpN / 8;
  static_assert(fragmentsN % 2 == 0, "columns are loaded two fragments a time");
  constexpr int wordsA = BM * wordsOfRow, wordsB = BN * wordsOfRow;
  constexpr int step = wordsOfTile * Problem::SideA::perWord;

  uint32_t *tiles = reinterpret_cast<uint32_t *>(sharedMemory());
  const Index tilesN = problem.tileColumns(), tilesM = problem.tileRows();
  const Index batch = Index(task / (long long)(tilesM * tilesN));
  const Index tile = Index(task % (long long)(tilesM * tilesN));
  const Index firstM = tile / tilesN * BM, firstN = tile % tilesN * BN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int rowOfWarp = warp / WN * warpM, columnOfWarp = warp % WN * warpN;

  using SideA = typename Problem::SideA;
  using SideB = typename Problem::SideB;
  TileReader<BM, threads, wayA, aAlongDepth, SideA> readA(
      SideA{problem}, batch, firstM);
  TileReader<BN, threads, wayB, bAlongDepth, SideB> readB(
      SideB{problem}, batch, firstN);
  const Index steps = (problem.depth() + step - 1) / step;
  auto fetch = [&](Index s) {
    if (s < steps) {
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
    fetch(s);
  for (Index s = 0; s < steps; ++s) {
    waitForCopies<STAGES - 2>();
    // The tile of step s is there for all, and nobody reads the one that is
    // fetched next any more.
    syncBlock();
    fetch(s + STAGES - 1);
    const uint32_t *tileA = tiles + int(s % STAGES) * (wordsA + wordsB);
    const uint32_t *tileB = tileA + wordsA;
#pragma unroll
    for (int k = 0; k < wordsOfTile; k += 8) {
      uint32_t a[fragmentsM][4], b[fragmentsN][2];
#pragma unroll
      for (int i = 0; i < fragmentsM; ++i)
        loadMatrices(a[i], tileA +
                               (rowOfWarp + i * 16 + lane % 16) * wordsOfRow +
                               k + lane / 16 * 4);
#pragma unroll
      for (int j = 0; j < fragmentsN; j += 2) {
        uint32_t both[4];
        loadMatrices(both, tileB +
                               (columnOfWarp + j * 8 + lane / 16 * 8 +
                                lane % 8) *
                                   wordsOfRow +
                               k + lane / 8 % 2 * 4);
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
  // Nobody reads the tiles any more when the next task fills them.
  waitForCopies<0>();
  syncBlock();

#pragma unroll
  for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < fragmentsN; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const Index m = firstM + rowOfWarp + i * 16 + lane / 4 + e / 2 * 8;
        const Index n = firstN + columnOfWarp + j * 8 + lane % 4 * 2 + e % 2;
        if (m < problem.rows() && n < problem.columns())
          problem.finish(batch, m, n, sums[i][j][e]);
      }
}

/// float32, its factors rounded to tf32.
struct MmaTF32 {
  using Sum = float;
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
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddF16(d, a, b);
  }
};

struct MmaBF16 {
  using Sum = float;
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddBF16(d, a, b);
  }
};
