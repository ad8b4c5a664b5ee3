
//===----------------------------------------------------------------------===//
// Contractions without tensor cores
//===----------------------------------------------------------------------===//

/// Tile `task` of the products of a batch of matrices A (M x K) and B (K x N):
/// BM x BN elements of a result, K in steps of BK. Each thread of
/// (BM / TM) * (BN / TN) computes TM x TN of them, rows and columns that are
/// BM / TM and BN / TN apart.
///
/// The problem says where things are, by offsets that add up:
///   rows(), columns(), depth()             M, N, K
///   tileRows(), tileColumns()              how many tiles there are
///   a(batch), aRow(m), aDepth(k), loadA(offset); b the same with bColumn(n)
///   finish(batch, m, n, sum)               writes an element
/// `aAlongDepth`: neighbours in A's memory are neighbours in k, not in m; the
/// threads that read them are then neighbours as well. `bAlongDepth` the same.
template <typename T, int BM, int BN, int BK, int TM, int TN, bool aAlongDepth,
          bool bAlongDepth, typename Problem>
MLC_DEVICE void multiplyTile(const Problem &problem, long long task) {
  constexpr int threadsM = BM / TM, threadsN = BN / TN;
  constexpr int threads = threadsM * threadsN;
  // A column of padding keeps writes along k out of one bank.
  constexpr int strideA = BM + 1, strideB = BN + 1;
  T *tileA = reinterpret_cast<T *>(sharedMemory());
  T *tileB = tileA + BK * strideA;
  const Index tilesN = problem.tileColumns();
  const Index tilesM = problem.tileRows();
  const Index batch = Index(task / (long long)(tilesM * tilesN));
  const Index tile = Index(task % (long long)(tilesM * tilesN));
  const Index firstM = tile / tilesN * BM, firstN = tile % tilesN * BN;
  const int thread = threadIdx.x;

  // The part of the tiles that this thread reads.
  constexpr int loadsA = BM * BK / threads, loadsB = BN * BK / threads;
  static_assert(loadsA * threads == BM * BK && loadsB * threads == BN * BK,
                "threads share the tiles evenly");
  constexpr int apartA = aAlongDepth ? BK : BM;
  constexpr int apartB = bAlongDepth ? BK : BN;
  // Offsets of what stays the same in every step; m, or n.
  Index offsetA[loadsA], offsetB[loadsB];
  bool insideA[loadsA], insideB[loadsB];
#pragma unroll
  for (int i = 0; i < loadsA; ++i) {
    const int e = thread + i * threads;
    const Index m = firstM + (aAlongDepth ? e / apartA : e % apartA);
    insideA[i] = m < problem.rows();
    offsetA[i] = insideA[i] ? problem.a(batch) + problem.aRow(m) : 0;
  }
#pragma unroll
  for (int i = 0; i < loadsB; ++i) {
    const int e = thread + i * threads;
    const Index n = firstN + (bAlongDepth ? e / apartB : e % apartB);
    insideB[i] = n < problem.columns();
    offsetB[i] = insideB[i] ? problem.b(batch) + problem.bColumn(n) : 0;
  }

  T sums[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j)
      sums[i][j] = T(0);

  const int threadM = thread / threadsN, threadN = thread % threadsN;
  for (Index firstK = 0; firstK < problem.depth(); firstK += BK) {
#pragma unroll
    for (int i = 0; i < loadsA; ++i) {
      const int e = thread + i * threads;
      const int m = aAlongDepth ? e / apartA : e % apartA;
      const int k = aAlongDepth ? e % apartA : e / apartA;
      T value = T(0);
      if (insideA[i] && firstK + k < problem.depth())
        value = problem.loadA(offsetA[i] + problem.aDepth(firstK + k));
      tileA[k * strideA + m] = value;
    }
#pragma unroll
    for (int i = 0; i < loadsB; ++i) {
      const int e = thread + i * threads;
      const int n = bAlongDepth ? e / apartB : e % apartB;
      const int k = bAlongDepth ? e % apartB : e / apartB;
      T value = T(0);
      if (insideB[i] && firstK + k < problem.depth())
        value = problem.loadB(offsetB[i] + problem.bDepth(firstK + k));
      tileB[k * strideB + n] = value;
    }
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
    syncBlock();
  }
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const Index m = firstM + threadM + i * threadsM;
      const Index n = firstN + threadN + j * threadsN;
      if (m < problem.rows() && n < problem.columns())
        problem.finish(batch, m, n, sums[i][j]);
    }
}
