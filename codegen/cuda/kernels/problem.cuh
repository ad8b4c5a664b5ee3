
//===----------------------------------------------------------------------===//
// What skeletons know of a contraction
//===----------------------------------------------------------------------===//
//
// A batch of products of matrices, A (M x K) and B (K x N). Problem, printed for
// each kernel, has
//
//   rows(), columns(), depth()         M, N, K
//   parts()                            blocks that share a tile, along K
//   placeA(batch, m), stepA(k)         where an element of A is: they add up to
//   placeB(batch, n), stepB(k)         a PlaceA; the same of B
//   insideA(place), insideB(place)     whether it is not in the border, which
//                                      nothing stores
//   loadA(place), loadB(place)         its value, in the border too
//   addressA(place), addressB(place)   where it lies in memory
//   finish(batch, m, n, sum)           what becomes of an element of the result
//
// A side is one of the factors, seen alike.

template <typename P> struct SideA {
  using Problem = P;
  using Place = typename P::PlaceA;
  const P &problem;
  MLC_DEVICE Index count() const { return problem.rows(); }
  MLC_DEVICE Index depth() const { return problem.depth(); }
  MLC_DEVICE Place place(Index batch, Index m) const {
    return problem.placeA(batch, m);
  }
  MLC_DEVICE Place step(Index k) const { return problem.stepA(k); }
  MLC_DEVICE bool inside(Place at) const { return problem.insideA(at); }
  MLC_DEVICE auto load(Place at) const { return problem.loadA(at); }
  MLC_DEVICE const void *address(Place at) const {
    return problem.addressA(at);
  }
};

template <typename P> struct SideB {
  using Problem = P;
  using Place = typename P::PlaceB;
  const P &problem;
  MLC_DEVICE Index count() const { return problem.columns(); }
  MLC_DEVICE Index depth() const { return problem.depth(); }
  MLC_DEVICE Place place(Index batch, Index n) const {
    return problem.placeB(batch, n);
  }
  MLC_DEVICE Place step(Index k) const { return problem.stepB(k); }
  MLC_DEVICE bool inside(Place at) const { return problem.insideB(at); }
  MLC_DEVICE auto load(Place at) const { return problem.loadB(at); }
  MLC_DEVICE const void *address(Place at) const {
    return problem.addressB(at);
  }
};

/// Which tile of the result a task is: tiles of one batch follow each other,
/// those of one row of tiles first; and which of the steps along K: the parts of
/// one tile follow each other.
template <int BM, int BN, int STEP> struct TileOfTask {
  Index batch, firstM, firstN;
  /// Steps from `begin` to before `end`; a last part may have none.
  Index begin, end;
  template <typename Problem>
  MLC_DEVICE TileOfTask(const Problem &problem, long long task) {
    const Index steps = (problem.depth() + STEP - 1) / STEP;
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
