
//===----------------------------------------------------------------------===//
// Blocks that share a sum
//===----------------------------------------------------------------------===//
//
// Each block writes its partial sum to workspace; the last block to finish
// adds the parts in their order, so the result does not depend on which block
// that is. One counter per sum precedes the parts.

constexpr int counterBytes = 4096;

/// Part `number`, counted over all sums, of `size` elements.
template <typename T>
MLC_DEVICE T *partAt(uint8_t *workspace, long long number, int size) {
  return reinterpret_cast<T *>(workspace + counterBytes) + number * size;
}

/// The threads of a block that add up parts: all of them. A word of shared
/// memory tells all what one has counted.
struct WholeBlock {
  MLC_DEVICE static int index() { return threadIdx.x; }
  MLC_DEVICE static void sync() { syncBlock(); }
  MLC_DEVICE static unsigned *word() {
    return reinterpret_cast<unsigned *>(sharedMemory());
  }
};

/// Whether this block is the last that shares sum `which` and so sees all
/// parts. All threads of a team call it after writing their part to workspace
/// memory.
template <typename Team = WholeBlock>
MLC_DEVICE bool isLastOf(unsigned parts, uint8_t *workspace, long long which) {
  unsigned *word = Team::word();
  Team::sync();
  if (Team::index() == 0)
    *word = count(reinterpret_cast<unsigned *>(workspace) + which, parts);
  Team::sync();
  const bool isLast = *word + 1 == parts;
  // The word is free again.
  Team::sync();
  return isLast;
}

/// Each of THREADS threads has COUNT partial sums `at(0)`, ... of part `task %
/// parts`. Returns whether they now are the sums of all parts.
template <typename T, int THREADS, int COUNT, typename Team = WholeBlock,
          typename At>
MLC_DEVICE bool addParts(At at, int parts, uint8_t *workspace, long long task) {
  constexpr int size = THREADS * COUNT;
  T *mine = partAt<T>(workspace, task, size) + Team::index();
#pragma unroll
  for (int e = 0; e < COUNT; ++e)
    mine[e * THREADS] = at(e);
  if (!isLastOf<Team>(parts, workspace, task / parts))
    return false;
  const T *part =
      partAt<T>(workspace, task / parts * parts, size) + Team::index();
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
