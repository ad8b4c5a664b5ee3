
//===----------------------------------------------------------------------===//
// Rows in registers
//===----------------------------------------------------------------------===//
//
// A row of LENGTH elements is shared out among the TEAM threads that have it,
// in vectors of WIDTH neighbours: neighbouring threads have neighbouring
// vectors.

template <int TEAM, int WIDTH, int LENGTH> struct RowOf {
  /// Vectors of a thread; of some threads the last ones are beyond the end.
  static constexpr int vectors =
      (LENGTH + TEAM * WIDTH - 1) / (TEAM * WIDTH);

  /// The first element of the thread's vector `v`, and whether there is one.
  static MLC_DEVICE int at(int v) {
    return (v * TEAM + int(threadIdx.x) % TEAM) * WIDTH;
  }
  static MLC_DEVICE bool has(int v) {
    return (v + 1) * TEAM * WIDTH <= LENGTH || at(v) < LENGTH;
  }
};
