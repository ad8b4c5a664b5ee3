
/// Neighbours in memory that are read and written together; at most 16 bytes.
template <typename T, int N> struct alignas(sizeof(T) * N) Vector {
  T at[N];
};
/// Loads N elements from `from`, which is aligned to their size.
template <int N, typename T> MLC_DEVICE Vector<T, N> loadVector(const T *from) {
  return loadWide<Vector<T, N>>(from);
}
template <int N, typename T>
MLC_DEVICE void storeVector(T *to, const Vector<T, N> &value) {
  storeWide(to, value);
}
