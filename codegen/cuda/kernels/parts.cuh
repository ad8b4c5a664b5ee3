
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
  /// Registers of a thread for parts that are on their way.
  static constexpr int words = 32;
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

/// Neighbouring sums, of 16 bytes.
template <typename T> struct alignas(16) RunOfSums {
  static constexpr int wide = 16 / int(sizeof(T));
  T at[wide];
};

/// Each of THREADS threads has COUNT partial sums `at(0)`, ... of part `task %
/// parts`. Returns whether they now are the sums of all parts.
template <typename T, int THREADS, int COUNT, typename Team = WholeBlock,
          typename At>
MLC_DEVICE bool addParts(At at, int parts, uint8_t *workspace, long long task) {
  typedef RunOfSums<T> Run;
  constexpr int size = THREADS * COUNT, runs = COUNT / Run::wide;
  static_assert(COUNT % Run::wide == 0, "sums come in runs");
  const int first = Team::index() * Run::wide;
  T *mine = partAt<T>(workspace, task, size) + first;
#pragma unroll
  for (int i = 0; i < runs; ++i) {
    Run run;
#pragma unroll
    for (int e = 0; e < Run::wide; ++e)
      run.at[e] = at(i * Run::wide + e);
    storeWide(mine + i * THREADS * Run::wide, run);
  }
  if (!isLastOf<Team>(parts, workspace, task / parts))
    return false;
  const T *part = partAt<T>(workspace, task / parts * parts, size) + first;
#pragma unroll
  for (int e = 0; e < COUNT; ++e)
    at(e) = T(0);
  // A part takes as long as memory answers, so several are asked for at a time.
  constexpr int words = COUNT * int(sizeof(T) / 4);
  constexpr int together = Team::words > words ? Team::words / words : 1;
  for (int number = 0; number < parts; number += together) {
    Run found[together][runs];
#pragma unroll
    for (int p = 0; p < together; ++p)
#pragma unroll
      for (int i = 0; i < runs; ++i)
        if (number + p < parts)
          found[p][i] = loadWide<Run>(part + (number + p) * size +
                                      i * THREADS * Run::wide);
#pragma unroll
    for (int p = 0; p < together; ++p)
#pragma unroll
      for (int e = 0; e < COUNT; ++e)
        if (number + p < parts)
          at(e) += found[p][e / Run::wide].at[e % Run::wide];
  }
  return true;
}
