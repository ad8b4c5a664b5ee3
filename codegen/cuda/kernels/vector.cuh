
/// Neighbours that are read and written together, by at most 16 bytes at a time.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vector {
  T at[N];
};
/// Loads N elements from `from`, which is aligned like the vector.
template <int N, typename T> MLC_DEVICE Vector<T, N> loadVector(const T *from) {
  return loadWide<Vector<T, N>>(from);
}
template <int N, typename T>
MLC_DEVICE void storeVector(T *to, const Vector<T, N> &value) {
  storeWide(to, value);
}
