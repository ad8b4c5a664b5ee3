
/// Neighbours that are read and written together, by at most 16 bytes at a
/// time.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vector {
  static constexpr int most = 16 / int(sizeof(T));
  /// Elements of one access.
  static constexpr int wide = N < most ? N : most;
  T at[N];
};
/// Loads N elements from `from`, which is aligned like the vector.
template <int N, typename T> MLC_DEVICE Vector<T, N> loadVector(const T *from) {
  constexpr int wide = Vector<T, N>::wide;
  Vector<T, N> value;
#pragma unroll
  for (int i = 0; i < N; i += wide) {
    const auto part = loadWide<Vector<T, wide>>(from + i);
#pragma unroll
    for (int e = 0; e < wide; ++e)
      value.at[i + e] = part.at[e];
  }
  return value;
}
template <int N, typename T>
MLC_DEVICE void storeVector(T *to, const Vector<T, N> &value) {
  constexpr int wide = Vector<T, N>::wide;
#pragma unroll
  for (int i = 0; i < N; i += wide) {
    Vector<T, wide> part;
#pragma unroll
    for (int e = 0; e < wide; ++e)
      part.at[e] = value.at[i + e];
    storeWide(to + i, part);
  }
}
