
//===----------------------------------------------------------------------===//
// The contraction as skeletons see it
//===----------------------------------------------------------------------===//
//
// A batch of matrix products of A (M x K) and B (K x N). Problem, printed for
// each kernel, has
//
//   rows(), columns(), K()         M, N, K
//   batches()                          products of the batch
//   parts()                            blocks that share a tile, along K
//   placeA(batch, m), stepA(k)         their sum is the position (PlaceA) of an
//   placeB(batch, n), stepB(k)         element of A; the same for B
//   hasFewSteps                        whether K is known and at most 1,024 bytes
//   readsAgainA, readsAgainB           whether windows of neighbours overlap
//   insideA(place), insideB(place)     whether it is outside the border, which
//                                      is not in memory
//   loadA(place), loadB(place)         its value, in the border too
//   bitsA(place, isStored)             its bits; 0 unless `isStored`
//   addressA(place), addressB(place)   its address
//   copyA(to, map, barrier, batch, m, k)   where A has a tensor map: copies the
//                                      box at m and k; the same for B
//   finish(batch, m, n, sum)           the epilogue of an element of the result
//
// A side is a uniform view of one factor.

template <typename P> struct SideA {
  using Problem = P;
  using Place = typename P::PlaceA;
  static constexpr bool readsAgain = P::readsAgainA;
  const P &problem;
  MLC_DEVICE Index count() const { return problem.rows(); }
  MLC_DEVICE Index K() const { return problem.K(); }
  MLC_DEVICE Place place(Index batch, Index m) const {
    return problem.placeA(batch, m);
  }
  MLC_DEVICE Place step(Index k) const { return problem.stepA(k); }
  MLC_DEVICE bool inside(Place at) const { return problem.insideA(at); }
  MLC_DEVICE auto load(Place at) const { return problem.loadA(at); }
  MLC_DEVICE uint32_t bits(Place at, bool isStored) const {
    return problem.bitsA(at, isStored);
  }
  MLC_DEVICE const void *address(Place at) const {
    return problem.addressA(at);
  }
  template <typename Map>
  MLC_DEVICE void copy(void *to, const Map *map, uint64_t *barrier, Index batch,
                       Index m, Index k) const {
    problem.copyA(to, map, barrier, batch, m, k);
  }
};

template <typename P> struct SideB {
  using Problem = P;
  using Place = typename P::PlaceB;
  static constexpr bool readsAgain = P::readsAgainB;
  const P &problem;
  MLC_DEVICE Index count() const { return problem.columns(); }
  MLC_DEVICE Index K() const { return problem.K(); }
  MLC_DEVICE Place place(Index batch, Index n) const {
    return problem.placeB(batch, n);
  }
  MLC_DEVICE Place step(Index k) const { return problem.stepB(k); }
  MLC_DEVICE bool inside(Place at) const { return problem.insideB(at); }
  MLC_DEVICE auto load(Place at) const { return problem.loadB(at); }
  MLC_DEVICE uint32_t bits(Place at, bool isStored) const {
    return problem.bitsB(at, isStored);
  }
  MLC_DEVICE const void *address(Place at) const {
    return problem.addressB(at);
  }
  template <typename Map>
  MLC_DEVICE void copy(void *to, const Map *map, uint64_t *barrier, Index batch,
                       Index n, Index k) const {
    problem.copyB(to, map, barrier, batch, n, k);
  }
};

/// The tile of the result and the steps along K of a task. Parts of one tile
/// are consecutive, then tiles of one row of tiles, then rows of one batch.
template <int BM, int BN, int STEP> struct TileOfTask {
  Index batch, firstM, firstN;
  /// Steps from `begin` to before `end`; a last part may have none.
  Index begin, end;
  template <typename Problem>
  MLC_DEVICE TileOfTask(const Problem &problem, long long task) {
    const Index steps = (problem.K() + STEP - 1) / STEP;
    const Index parts = problem.parts(), each = (steps + parts - 1) / parts;
    begin = Index(task % parts) * each;
    end = begin + each < steps ? begin + each : steps;
    task /= parts;
    const long long tilesM = (problem.rows() + BM - 1) / BM;
    const long long tilesN = (problem.columns() + BN - 1) / BN;
    batch = Index(task / (tilesM * tilesN));
    firstM = Index(task / tilesN % tilesM) * BM;
    firstN = Index(task % tilesN) * BN;
  }
};
