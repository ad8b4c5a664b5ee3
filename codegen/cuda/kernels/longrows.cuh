
//===----------------------------------------------------------------------===//
// Rows that a block has
//===----------------------------------------------------------------------===//
//
// A row of LENGTH elements, which begins at any element of memory, is shared
// out among THREADS threads in vectors of WIDTH neighbours that are aligned in
// memory. What lies before the first and behind the last vector are edges,
// fewer than two vectors: some threads have one each. A thread reads what it
// wrote itself, so rows in shared memory need no barrier.

/// Loads and stores N elements that need not be aligned.
template <int N, typename T> MLC_DEVICE Vector<T, N> gatherVector(const T *from) {
  Vector<T, N> value;
#pragma unroll
  for (int e = 0; e < N; ++e)
    value.at[e] = from[e];
  return value;
}
template <int N, typename T>
MLC_DEVICE void scatterVector(T *to, const Vector<T, N> &value) {
#pragma unroll
  for (int e = 0; e < N; ++e)
    to[e] = value.at[e];
}

template <int THREADS, int WIDTH, int LENGTH> struct LongRow {
  /// Elements before the first vector, and the number of vectors.
  int head, whole;

  /// A row that begins at element `base` of its tensors.
  MLC_DEVICE explicit LongRow(Index base)
      : head(LENGTH % WIDTH == 0 ? 0 : int((WIDTH - base % WIDTH) % WIDTH)),
        whole((LENGTH - head) / WIDTH) {}

  /// The first element of vector `v`, and the thread's edge if there is one.
  MLC_DEVICE int at(int v) const { return head + v * WIDTH; }
  MLC_DEVICE bool hasEdge() const {
    return int(threadIdx.x) < LENGTH - whole * WIDTH;
  }
  MLC_DEVICE int edge() const {
    return int(threadIdx.x) + (int(threadIdx.x) < head ? 0 : whole * WIDTH);
  }

  /// Where an edge is in shared memory: behind all vectors.
  static MLC_DEVICE int edgeSlot() {
    return LENGTH / WIDTH * WIDTH + int(threadIdx.x);
  }
  /// Starts to copy the thread's elements of the row at `from` to `to`. ALIGNED:
  /// vectors are aligned there.
  template <bool ALIGNED, typename T>
  MLC_DEVICE void bring(T *to, const T *from) const {
    constexpr int bytes = WIDTH * int(sizeof(T));
    if (hasEdge())
      to[edgeSlot()] = from[edge()];
    for (int v = threadIdx.x; v < whole; v += THREADS)
      if constexpr (!ALIGNED)
        storeVector<WIDTH>(to + v * WIDTH, gatherVector<WIDTH>(from + at(v)));
      else if constexpr (bytes == 4 || bytes == 8 || bytes == 16)
        copyAsync<bytes>(to + v * WIDTH, from + at(v), true);
      else
        storeVector<WIDTH>(to + v * WIDTH, loadVector<WIDTH>(from + at(v)));
  }
};

