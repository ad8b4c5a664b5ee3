
//===----------------------------------------------------------------------===//
// Contractions without tensor cores
//===----------------------------------------------------------------------===//

/// One thread's share of loading a tile of ROWS x BK elements of T in each
/// step. `alongK`: neighbours in k are neighbours in memory and are read by
/// neighbouring threads.
template <typename T, int ROWS, int BK, int THREADS, bool alongK,
          typename Side>
struct ElementReader {
  static constexpr int loads = ROWS * BK / THREADS;
  static_assert(loads * THREADS == ROWS * BK, "threads share tiles evenly");
  /// A column of padding spreads writes along k over banks.
  static constexpr int stride = ROWS + 1;

  Side side;
  typename Side::Place places[loads];
  bool inside[loads];

  MLC_DEVICE static int row(int i) {
    const int e = threadIdx.x + i * THREADS;
    return alongK ? e / BK : e % ROWS;
  }
  MLC_DEVICE static int kOf(int i) {
    const int e = threadIdx.x + i * THREADS;
    return alongK ? e % BK : e / ROWS;
  }
  MLC_DEVICE ElementReader(Side side, Index batch, Index first) : side(side) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const Index r = first + row(i);
      inside[i] = r < side.count();
      places[i] = side.place(batch, inside[i] ? r : 0);
    }
  }
  MLC_DEVICE void read(T *tile, Index firstK) const {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
      const Index k = firstK + kOf(i);
      T value = T(0);
      if (inside[i] && k < side.K())
        value = side.load(places[i] + side.step(k));
      tile[kOf(i) * stride + row(i)] = value;
    }
  }
};

/// Tile of `task`: BM x BN elements of the result, K in steps of BK. Each of
/// (BM / TM) * (BN / TN) threads computes TM x TN of these, at every BM / TM th
/// row and BN / TN th column.
template <typename T, int BM, int BN, int BK, int TM, int TN, bool aAlongK,
          bool bAlongK, typename Problem>
MLC_DEVICE void multiplyTile(const Problem &problem, long long task,
                             uint8_t *workspace) {
  constexpr int threadsM = BM / TM, threadsN = BN / TN;
  constexpr int threads = threadsM * threadsN;
  constexpr int strideA = BM + 1, strideB = BN + 1;
  T *tileA = reinterpret_cast<T *>(sharedMemory());
  T *tileB = tileA + BK * strideA;
  const TileOfTask<BM, BN, BK> tile(problem, task);
  const ElementReader<T, BM, BK, threads, aAlongK, SideA<Problem>> readA(
      {problem}, tile.batch, tile.firstM);
  const ElementReader<T, BN, BK, threads, bAlongK, SideB<Problem>> readB(
      {problem}, tile.batch, tile.firstN);

  T sums[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      sums[i][j] = T(0);

  const int threadM = threadIdx.x / threadsN, threadN = threadIdx.x % threadsN;
  for (Index s = tile.begin; s < tile.end; ++s) {
    // All threads must have read the tiles of the previous step or task.
    if (s > tile.begin || task != blockIdx.x)
      syncBlock();
    readA.read(tileA, s * BK);
    readB.read(tileB, s * BK);
    syncBlock();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      T a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i)
        a[i] = tileA[k * strideA + threadM + i * threadsM];
#pragma unroll
      for (int j = 0; j < TN; ++j)
        b[j] = tileB[k * strideB + threadN + j * threadsN];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
          sums[i][j] += a[i] * b[j];
    }
  }
  if (problem.parts() > 1 &&
      !addParts<T, threads, TM * TN>(
          [&](int e) -> T & { return sums[e / TN][e % TN]; },
          int(problem.parts()), workspace, task))
    return;
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const Index m = tile.firstM + threadM + i * threadsM;
      const Index n = tile.firstN + threadN + j * threadsN;
      if (m < problem.rows() && n < problem.columns())
        problem.finish(tile.batch, m, n, sums[i][j]);
    }
}
