
//===----------------------------------------------------------------------===//
// Slices added at indices
//===----------------------------------------------------------------------===//

/// The type that elements are added as. Integers are unsigned, so that they
/// wrap, unless they are compared.
template <typename T> struct Addend {
  typedef T Sum;
  MLC_DEVICE static Sum load(T value) { return value; }
  MLC_DEVICE static T store(Sum value) { return value; }
};
template <> struct Addend<f16> {
  typedef float Sum;
  MLC_DEVICE static float load(f16 value) { return toFloat(value); }
  MLC_DEVICE static f16 store(float value) { return toF16(value); }
};
template <> struct Addend<bf16> {
  typedef float Sum;
  MLC_DEVICE static float load(bf16 value) { return toFloat(value); }
  MLC_DEVICE static bf16 store(float value) { return toBF16(value); }
};

/// Combines an element with an update, as in the runtime's library.
struct Added {
  template <typename T> MLC_DEVICE static T of(T x, T y) { return T(x + y); }
};
struct Multiplied {
  MLC_DEVICE static float of(float x, float y) { return x * y; }
  MLC_DEVICE static double of(double x, double y) { return x * y; }
  template <typename T> MLC_DEVICE static T of(T x, T y) {
    return T((unsigned long long)(x) * (unsigned long long)(y));
  }
};
struct Larger {
  template <typename T> MLC_DEVICE static T of(T x, T y) {
    return x != x ? x : y != y ? y : x < y ? y : x;
  }
};
struct Smaller {
  template <typename T> MLC_DEVICE static T of(T x, T y) {
    return x != x ? x : y != y ? y : y < x ? y : x;
  }
};

/// A block holds SLOTS * (THREADS / COLUMNS) rows and COLUMNS columns of the
/// result in shared memory. Each thread owns SLOTS elements of one column and
/// adds to them in the order of the updates, so the result is deterministic. It
/// reads all indices.
template <typename Combine, typename T, typename Pick, int THREADS, int COLUMNS,
          int SLOTS>
struct ScatterAdd {
  typedef typename Addend<T>::Sum Sum;
  static constexpr int lanes = THREADS / COLUMNS, rows = SLOTS * lanes;

  const T *in;
  const Pick *picks;
  const T *updates;
  T *out;
  Index extent, inner, count, begin, whole;

  MLC_DEVICE void run(Index task) const {
    Sum *mine = reinterpret_cast<Sum *>(sharedMemory()) + threadIdx.x;
    const Index parts = (extent + rows - 1) / rows;
    const Index pieces = (inner + COLUMNS - 1) / COLUMNS;
    const Index column = task % pieces * COLUMNS + threadIdx.x % COLUMNS;
    const Index first = task / pieces % parts * rows;
    const Index box = task / pieces / parts;
    const int lane = threadIdx.x / COLUMNS;
    if (column >= inner)
      return;
    const Index start = (box * extent + first) * inner + column;
    const Index left = extent - first;
#pragma unroll 4
    for (int slot = 0; slot < SLOTS; ++slot)
      if (slot * lanes + lane < left)
        mine[slot * THREADS] =
            Addend<T>::load(in[start + (slot * lanes + lane) * inner]);
    const T *slices = updates + box * count * inner + column;
    const int end = int(left < rows ? left : Index(rows));
    for (Index j = 0; j < count; ++j) {
      long long at = (long long)(picks[j]);
      at += at < 0 ? (long long)(whole) : 0ll;
      if (at < 0)
        continue;
      at -= (long long)(begin) + first;
      if (at < 0 || at >= end || int(at) % lanes != lane)
        continue;
      Sum &sum = mine[int(at) / lanes * THREADS];
      sum = Combine::of(sum, Addend<T>::load(slices[j * inner]));
    }
#pragma unroll 4
    for (int slot = 0; slot < SLOTS; ++slot)
      if (slot * lanes + lane < left)
        out[start + (slot * lanes + lane) * inner] =
            Addend<T>::store(mine[slot * THREADS]);
  }
};
