
//===----------------------------------------------------------------------===//
// Contractions on tensor cores
//===----------------------------------------------------------------------===//

/// Tile of `task`: a block of WM * WN warps computes BM x BN;
/// `Mma::run(d, a, b)` adds the product of a fragment of A and one of B.
template <int BM, int BN, int WM, int WN, int STAGES, typename Mma,
          CopyMode copyModeA, bool aAlongK, CopyMode copyModeB, bool bAlongK,
          typename Problem>
MLC_DEVICE void multiplyTileByWarps(const Problem &problem, long long task,
                                    uint8_t *workspace) {
  constexpr int threads = 32 * WM * WN;
  constexpr int warpM = BM / WM, warpN = BN / WN;
  constexpr int fragmentsM = warpM / 16, pairsN = warpN / 16;
  typedef Layout<BM, copyModeA, Mma::perWord> TileA;
  typedef Layout<BN, copyModeB, Mma::perWord> TileB;
  typedef Fragments<TileA, true, fragmentsM> FragmentsA;
  typedef Fragments<TileB, false, pairsN> FragmentsB;
  typedef typename Mma::Sum Sum;
  constexpr int step = wordsOfTile * Mma::perWord, parts = wordsOfTile / 8;
  static_assert(STAGES >= 3, "a step is copied while the next one waits");

  uint32_t *tiles = reinterpret_cast<uint32_t *>(sharedMemory());
  // All threads must have finished the previous task.
  if (task != blockIdx.x)
    syncBlock();
  const TileOfTask<BM, BN, step> tile(problem, task);
  const int warp = threadIdx.x / 32;
  const int rowOfWarp = warp / WN * warpM, columnOfWarp = warp % WN * warpN;
  constexpr int stage = TileA::words + TileB::words;

  FactorReader<BM, threads, copyModeA, aAlongK, Mma, SideA<Problem>> readA(
      {problem}, tile.batch, tile.firstM);
  FactorReader<BN, threads, copyModeB, bAlongK, Mma, SideB<Problem>> readB(
      {problem}, tile.batch, tile.firstN);
  auto start = [&](Index s, uint32_t *to, int part) {
    if (s < tile.end) {
      readA.start(to, s * step, part);
      readB.start(to + TileA::words, s * step, part);
    }
  };
  auto finish = [&](Index s, uint32_t *to, int part) {
    if (s < tile.end) {
      readA.finish(to, part);
      readB.finish(to + TileA::words, part);
    }
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      start(tile.begin + s, tiles + s * stage, part);
      finish(tile.begin + s, tiles + s * stage, part);
    }
    commitCopies();
  }

  // Fragments are loaded while the ones before are multiplied.
  const FragmentsA fragmentsA(rowOfWarp);
  const FragmentsB fragmentsB(columnOfWarp);
  uint32_t a[2][fragmentsM][4], b[2][pairsN][4];
  auto load = [&](const uint32_t *from, int part) {
    fragmentsA.load(a[part % 2], from, part);
    fragmentsB.load(b[part % 2], from + TileA::words, part);
  };
  Sum sums[fragmentsM][2 * pairsN][4] = {};

  // The stage that is multiplied, in words.
  int now = 0;
  if (tile.begin < tile.end) {
    waitForCopies<STAGES - 2>();
    syncBlock();
    load(tiles, 0);
  }
  for (Index s = tile.begin; s < tile.end; ++s) {
    const int next = now == (STAGES - 1) * stage ? 0 : now + stage;
    // The stage of the step before is free.
    uint32_t *free = tiles + (now == 0 ? (STAGES - 1) * stage : now - stage);
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (part + 1 < parts) {
        load(tiles + now, part + 1);
      } else if (s + 1 < tile.end) {
        // All threads see the next step's tile and have read this one.
        waitForCopies<STAGES - 3>();
        syncBlock();
        load(tiles + next, 0);
      }
      start(s + STAGES - 1, free, part);
      Mma::prepare(a[part % 2]);
      Mma::prepare(b[part % 2]);
#pragma unroll
      for (int i = 0; i < fragmentsM; ++i)
#pragma unroll
        for (int j = 0; j < 2 * pairsN; ++j) {
          const auto &pair = b[part % 2][j / 2];
          const uint32_t one[2] = {pair[j % 2 * 2], pair[j % 2 * 2 + 1]};
          Mma::run(sums[i][j], a[part % 2][i], one);
        }
      finish(s + STAGES - 1, free, part);
    }
    commitCopies();
    now = next;
  }
  // No copy is in flight: the groups after the last step are empty. All threads
  // must have read the tiles before results take their place.
  if (problem.parts() == 1)
    syncBlock();
  else if (!addParts<Sum, threads, fragmentsM * pairsN * 8>(
               [&](int e) -> Sum & {
                 return sums[e / (pairsN * 8)][e / 4 % (pairsN * 2)][e % 4];
               },
               int(problem.parts()), workspace, task))
    return;
  typedef Results<Problem, Sum, fragmentsM, 2 * pairsN, FragmentsA::together,
                  FragmentsB::together>
      Results;
  const Results results = {problem, tile.batch, tile.firstM + rowOfWarp,
                           tile.firstN + columnOfWarp};
  results.finish(sums, reinterpret_cast<Sum *>(tiles) + warp * Results::words);
}

/// float32, its factors rounded to tf32 by a multiplication. Tensor cores drop
/// all but 10 bits of the mantissa m, 1 <= m < 2. The factor adds m / 3 of the
/// last bit that stays, so the error is at most 2/3 of that bit and nearly 0 on
/// average. Numbers of 10 bits, infinities and NaN stay as they are.
struct MmaTF32 {
  using Sum = float;
  static constexpr int perWord = 1;
  template <int N, int M>
  MLC_DEVICE static void prepare(uint32_t (&words)[N][M]) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int j = 0; j < M; ++j)
        words[i][j] = __float_as_int(__int_as_float(words[i][j]) *
                                     (1.0f + 1.0f / (3 * 1024)));
  }
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddTF32(d, a, b);
  }
};

struct MmaF16 {
  using Sum = float;
  static constexpr int perWord = 2;
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(float (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddF16(d, a, b);
  }
};

struct MmaBF16 {
  using Sum = float;
  static constexpr int perWord = 2;
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
  template <int N, int M> MLC_DEVICE static void prepare(uint32_t (&)[N][M]) {}
  MLC_DEVICE static void run(int (&d)[4], const uint32_t (&a)[4],
                             const uint32_t (&b)[2]) {
    multiplyAddBytes<aSigned, bSigned>(d, a, b);
  }
};
