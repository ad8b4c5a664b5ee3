
//===----------------------------------------------------------------------===//
// Vectors behind pads
//===----------------------------------------------------------------------===//

/// The word in which a vector of so many bytes is kept.
template <int BYTES> struct WordOf {
  typedef uint32_t Type;
};
template <> struct WordOf<2> {
  typedef uint16_t Type;
};
template <> struct WordOf<1> {
  typedef uint8_t Type;
};

/// Loads N elements from `from`, at most 16 bytes and aligned like the vector,
/// or N times `outside` if not `isInside`. The choice is made by words: by
/// elements of 16 bits it would take an instruction for each of them behind
/// the load, and the next load would wait for it.
template <int N, typename T>
MLC_DEVICE Vector<T, N> loadVectorOr(bool isInside, const T *from, T outside) {
  constexpr int bytes = N * int(sizeof(T));
  typedef typename WordOf<bytes>::Type Word;
  union Both {
    Vector<T, N> vector;
    Vector<Word, bytes / int(sizeof(Word))> words;
  } value;
#pragma unroll
  for (int e = 0; e < N; ++e)
    value.vector.at[e] = outside;
  if (isInside)
    value.words = loadWide<Vector<Word, bytes / int(sizeof(Word))>>(from);
  return value.vector;
}

//===----------------------------------------------------------------------===//
// Runs of elements in shared memory
//===----------------------------------------------------------------------===//

/// Starts to copy elements [first, last) of `from`, which is aligned to 16
/// bytes, to shared memory: element i to `to[i - first + first % wide]`, with
/// as many elements as 16 bytes hold in `wide`. So both sides are aligned
/// alike. A barrier behind waitForCopies<0>() makes them visible.
template <int THREADS, typename T>
MLC_DEVICE void bringRun(T *to, const T *from, Index first, Index last) {
  constexpr int wide = 16 / int(sizeof(T));
  const Index start = first / wide * wide;
  const int begin = int(first - start), end = int(last - start);
  const int whole = (begin + wide - 1) / wide * wide, rest = end / wide * wide;
  for (int at = whole + int(threadIdx.x) * wide; at < rest;
       at += THREADS * wide)
    copyAsync<16>(to + at, from + start + at, true);
  // The ends, which are no whole vectors.
  const int lane = int(threadIdx.x);
  if (lane < wide && lane >= begin && lane < (whole < end ? whole : end))
    to[lane] = from[start + lane];
  if (lane >= wide && lane < 2 * wide && rest >= whole &&
      rest + lane - wide < end)
    to[rest + lane - wide] = from[start + rest + lane - wide];
}

/// Copies `count` elements from `first` on to shared memory; behind the last of
/// `all` comes the first again.
template <int THREADS, typename T>
MLC_DEVICE void bringCycle(T *to, const T *from, int first, int count,
                           int all) {
  for (int i = int(threadIdx.x); i < count; i += THREADS)
    to[i] = from[(first + i) % all];
}
