
//===----------------------------------------------------------------------===//
// Blocks that share a sum
//===----------------------------------------------------------------------===//
//
// Each block adds up its part and leaves it in joint memory; the one that comes
// last adds the parts, in their order: the result does not depend on which that
// was. Counters lie in front of the parts, one for each sum.

constexpr int counterBytes = 4096;

/// Part `number` of all, counted through all sums, of `size` elements.
template <typename T>
MLC_DEVICE T *partAt(uint8_t *joint, long long number, int size) {
  return reinterpret_cast<T *>(joint + counterBytes) + number * size;
}

/// Called by all threads of the blocks that share sum `which`, once what they
/// write lies in joint memory: whether this block is the last of them, and so
/// sees all parts. Uses the first word of shared memory.
MLC_DEVICE bool isLastOf(unsigned parts, uint8_t *joint, long long which) {
  unsigned *word = reinterpret_cast<unsigned *>(sharedMemory());
  syncBlock();
  if (threadIdx.x == 0)
    *word = count(reinterpret_cast<unsigned *>(joint) + which, parts);
  syncBlock();
  const bool isLast = *word + 1 == parts;
  // The word is free again.
  syncBlock();
  return isLast;
}

/// Each of THREADS threads has COUNT sums, `at(0)` and so on: those of part
/// `task % parts`. Whether they have become those of all parts.
template <typename T, int THREADS, int COUNT, typename At>
MLC_DEVICE bool addParts(At at, int parts, uint8_t *joint, long long task) {
  constexpr int size = THREADS * COUNT;
  T *mine = partAt<T>(joint, task, size) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < COUNT; ++e)
    mine[e * THREADS] = at(e);
  if (!isLastOf(parts, joint, task / parts))
    return false;
  const T *part = partAt<T>(joint, task / parts * parts, size) + threadIdx.x;
#pragma unroll
  for (int e = 0; e < COUNT; ++e)
    at(e) = T(0);
  // Few sums leave registers for loads of the next parts.
  constexpr int together = COUNT <= 16 ? 2 : 1;
#pragma unroll together
  for (int i = 0; i < parts; ++i)
#pragma unroll
    for (int e = 0; e < COUNT; ++e)
      at(e) += part[i * size + e * THREADS];
  return true;
}
