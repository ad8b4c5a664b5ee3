
//===----------------------------------------------------------------------===//
// Contractions by warpgroups, for sm_90a
//===----------------------------------------------------------------------===//
//
// A block has a warpgroup that copies factors into shared memory, and one or
// two that multiply them there and finish results. Steps of all tasks of a
// block make one sequence through STAGES stages, so factors of the next tile
// are copied while results of this one are stored. Stage i is full when its
// copies have come (`full[i]`), and empty when all that multiply have read it
// (`empty[i]`).
//
// A tile of a factor has 128 bytes of K for each row, or, across, 128 bytes of
// rows for each place in k; 16-byte chunks are swizzled as the copy engine does
// it.

/// A factor that one thread copies by a tensor map; Side has copy().
template <int ROWS, bool isAcross, typename Product, typename Side>
struct MappedTile {
  static constexpr bool isMapped = true, across = isAcross;
  Side side;
  const TensorMap *map;
  Index batch, first;
  MLC_DEVICE MappedTile(Side side, const TensorMap *map, Index batch,
                        Index first)
      : side(side), map(map), batch(batch), first(first) {}
  MLC_DEVICE void start(uint8_t *to, uint64_t *barrier, Index k) const {
    if (threadIdx.x != 0)
      return;
    constexpr int inBox = across ? 32 * Product::perWord : ROWS;
#pragma unroll
    for (int row = 0; row < ROWS; row += inBox)
      side.copy(to + row * 128, map, barrier, batch, first + row, k);
  }
};

/// A factor that the threads of a warpgroup copy by 16 bytes.
template <int ROWS, CopyMode copyMode, typename Product, typename Side>
struct GatheredTile {
  typedef SwizzledLayout<ROWS, copyMode, Product::perWord> Tile;
  static constexpr bool isMapped = false, across = Tile::isAcross;
  FactorReader<ROWS, 128, copyMode, !across, Product, Side, Tile> reader;
  MLC_DEVICE GatheredTile(Side side, const TensorMap *, Index batch,
                          Index first)
      : reader(side, batch, first) {}
  MLC_DEVICE void start(uint8_t *to, uint64_t *, Index k) {
#pragma unroll
    for (int part = 0; part < 4; ++part)
      reader.start(reinterpret_cast<uint32_t *>(to), k, part);
  }
};

/// The stage of a step, and how often it was used before.
template <int STAGES> struct Turn {
  int stage = 0, use = 0;
  MLC_DEVICE void next() {
    if (++stage == STAGES) {
      stage = 0;
      ++use;
    }
  }
};

/// The warpgroups that multiply, when they share sums with other blocks.
template <int THREADS, int STAGES> struct Multipliers {
  static constexpr int words = 64;
  MLC_DEVICE static int index() { return threadIdx.x - 128; }
  MLC_DEVICE static void sync() { syncNamed(1, THREADS); }
  MLC_DEVICE static unsigned *word() {
    return reinterpret_cast<unsigned *>(sharedMemory() + STAGES * 16);
  }
};

/// A block's work: tiles of BM x BN by GROUPS warpgroups. Results leave by
/// PIECE columns of 16 rows. Registers of a thread: COPYING of those that copy,
/// MULTIPLYING of the others.
template <int BM, int BN, int GROUPS, int STAGES, int PIECE, int COPYING,
          int MULTIPLYING, typename Product, typename TileA, typename TileB,
          typename Problem>
struct Warpgroups {
  typedef typename Product::Sum Sum;
  static constexpr int threads = 128 * GROUPS;
  static constexpr int step = wordsOfTile * Product::perWord;
  static constexpr int bytesA = BM * 128, stageBytes = bytesA + BN * 128;
  static constexpr bool gathers = !TileA::isMapped || !TileB::isMapped;
  static constexpr int mappedBytes = (TileA::isMapped ? bytesA : 0) +
                                     (TileB::isMapped ? BN * 128 : 0);
  /// Steps whose copies by threads are in flight. Of the other stages one is
  /// multiplied and one may still be read.
  static constexpr int lag = STAGES - 2;
  static_assert(BM == 64 * GROUPS, "a product has 64 rows");
  static_assert(STAGES >= 3 && STAGES * 16 + 4 <= 256);
  typedef TileOfTask<BM, BN, step> Task;
  typedef Results<Problem, Sum, 1, PIECE / 8, 1, 1> Results;

  const Problem &problem;
  uint8_t *workspace;
  const TensorMap *mapA, *mapB;
  /// The first task of this block, and how many blocks share the tasks.
  long long first, blocks;
  uint64_t *full, *empty;
  uint8_t *tiles;

  MLC_DEVICE Warpgroups(const Problem &problem, uint8_t *workspace,
                        const TensorMap *mapA, const TensorMap *mapB,
                        long long first, long long blocks)
      : problem(problem), workspace(workspace), mapA(mapA), mapB(mapB),
        first(first), blocks(blocks) {
    // Barriers and a word come before tiles, which are at multiples of 1024,
    // where the swizzle's pattern begins.
    full = reinterpret_cast<uint64_t *>(sharedMemory());
    empty = full + STAGES;
    tiles = sharedMemory() + 256;
    tiles += -sharedAddress(tiles) & 1023;
  }

  MLC_DEVICE long long countTasks() const {
    const long long tilesM = (problem.rows() + BM - 1) / BM;
    const long long tilesN = (problem.columns() + BN - 1) / BN;
    return problem.batches() * tilesM * tilesN * problem.parts();
  }

  MLC_DEVICE void run() {
    if (threadIdx.x == 0) {
      for (int i = 0; i < STAGES; ++i) {
        initBarrier(full + i, (mappedBytes > 0) + (gathers ? 4 : 0));
        initBarrier(empty + i, threads / 32);
      }
      fenceBarrierInit();
    }
    syncBlock();
    if (threadIdx.x < 128) {
      dropRegisters<COPYING>();
      if (gathers || threadIdx.x == 0)
        copyAll();
    } else {
      raiseRegisters<MULTIPLYING>();
      multiplyAll();
    }
  }

private:
  /// Copies the factors of all steps.
  MLC_DEVICE void copyAll() {
    const long long tasks = countTasks();
    Turn<STAGES> turn, behind;
    int inFlight = 0;
    for (long long number = first; number < tasks; number += blocks) {
      const Task task(problem, number);
      TileA a({problem}, mapA, task.batch, task.firstM);
      TileB b({problem}, mapB, task.batch, task.firstN);
      for (Index s = task.begin; s < task.end; ++s, turn.next()) {
        uint64_t *barrier = full + turn.stage;
        uint8_t *to = tiles + turn.stage * stageBytes;
        waitForPhase(empty + turn.stage, turn.use - 1);
        if (mappedBytes > 0 && threadIdx.x == 0)
          arriveAndExpect(barrier, mappedBytes);
        a.start(to, barrier, s * step);
        b.start(to + bytesA, barrier, s * step);
        if constexpr (gathers) {
          commitCopies();
          if (inFlight < lag) {
            ++inFlight;
          } else {
            waitForCopies<lag>();
            handOver(behind, 1);
          }
        }
      }
    }
    if constexpr (gathers) {
      waitForCopies<0>();
      handOver(behind, inFlight);
    }
  }

  /// Hands over stages that this warp's copies have filled. Products read
  /// shared memory by another way than copies of threads write it.
  MLC_DEVICE void handOver(Turn<STAGES> &behind, int count) {
    fenceAsyncProxy();
    syncWarp();
    for (int i = 0; i < count; ++i, behind.next())
      if (threadIdx.x % 32 == 0)
        arrive(full + behind.stage);
  }

  MLC_DEVICE void multiplyAll() {
    const int group = threadIdx.x / 128 - 1;
    Sum *rows = reinterpret_cast<Sum *>(tiles + STAGES * stageBytes) +
                (threadIdx.x / 32 - 4) * Results::words;
    const long long tasks = countTasks();
    Turn<STAGES> turn;
    prefetch(first, tasks);
    for (long long number = first; number < tasks; number += blocks) {
      prefetch(number + blocks, tasks);
      const Task task(problem, number);
      Sum sums[BN / 2];
#pragma unroll
      for (int e = 0; e < BN / 2; ++e)
        sums[e] = 0;
      multiply(sums, task, group, turn);
      if (problem.parts() == 1 ||
          addParts<Sum, threads, BN / 2, Multipliers<threads, STAGES>>(
              [&](int e) -> Sum & { return sums[e]; }, int(problem.parts()),
              workspace, number))
        finish(sums, task, group, rows);
    }
  }

  /// Asks for what the epilogue of a task reads, so that it is near when its
  /// products are done.
  MLC_DEVICE void prefetch(long long number, long long tasks) const {
    constexpr int columns = Problem::columnsOfLine;
    if constexpr (columns > 0) {
      if (number >= tasks || problem.parts() > 1)
        return;
      const Task task(problem, number);
      constexpr int lines = (BN + columns - 1) / columns;
      for (int i = threadIdx.x - 128; i < BM * lines; i += threads) {
        const Index m = task.firstM + i / lines;
        const Index n = task.firstN + i % lines * columns;
        if (m < problem.rows() && n < problem.columns())
          problem.prefetchRow(task.batch, m, n);
      }
    }
  }

  /// Adds the products of all steps of a task.
  MLC_DEVICE void multiply(Sum (&sums)[BN / 2], const Task &task,
                           int group, Turn<STAGES> &turn) {
    // From 32 bytes of k to the next, in units of 16; and across, from 128 bytes
    // of rows to the next.
    constexpr int nextA = TileA::across ? 128 : 2;
    constexpr int nextB = TileB::across ? 128 : 2, run = step * 128;
    const bool arrives = threadIdx.x % 32 == 0;
    uint64_t *before = nullptr;
    // The compiler waits for each product of few steps without a loop.
#pragma unroll Problem::hasFewSteps ? 1 : 4
    for (Index s = task.begin; s < task.end; ++s, turn.next()) {
      waitForPhase(full + turn.stage, turn.use);
      const uint8_t *at = tiles + turn.stage * stageBytes;
      // A block of 64 rows has as many bytes either way.
      const auto a = describeTile<128>(at + group * 64 * 128,
                                       TileA::across ? run : 16, 1024);
      const auto b =
          describeTile<128>(at + bytesA, TileB::across ? run : 16, 1024);
      fenceProducts();
#pragma unroll
      for (int k = 0; k < 4; ++k)
        Product::template run<TileA::across, TileB::across>(
            sums, a + k * nextA, b + k * nextB);
      commitProducts();
      // Those of the step before are done.
      waitForProducts<1>();
      if (before && arrives)
        arrive(before);
      before = empty + turn.stage;
    }
    waitForProducts<0>();
    if (before && arrives)
      arrive(before);
  }

  MLC_DEVICE void finish(const Sum (&sums)[BN / 2], const Task &task,
                         int group, Sum *rows) const {
    const Index firstM =
        task.firstM + group * 64 + threadIdx.x / 32 % 4 * 16;
    if (firstM + 16 <= problem.rows() && task.firstN + BN <= problem.columns())
      finishPieces<true>(sums, task, firstM, rows);
    else
      finishPieces<false>(sums, task, firstM, rows);
  }

  /// What the epilogue of a piece reads is on its way while the piece before is
  /// finished.
  template <bool isWhole>
  MLC_DEVICE void finishPieces(const Sum (&sums)[BN / 2], const Task &task,
                               Index firstM, Sum *rows) const {
    Results piece = {problem, task.batch, firstM, task.firstN};
    typename Results::Operands now, next;
    piece.template read<isWhole>(now);
    // One text for all pieces, in each of which registers are known.
#pragma unroll 1
    for (int number = 0; number < BN / PIECE; ++number) {
      if (!isWhole && piece.firstN >= problem.columns())
        break;
      if (number + 1 < BN / PIECE) {
        const Results behind = {problem, task.batch, firstM,
                                piece.firstN + PIECE};
        behind.template read<isWhole>(next);
      }
      // The rows before have been read.
      syncWarp();
#pragma unroll
      for (int i = 0; i < BN / PIECE; ++i)
        if (i == number)
          leavePiece(sums, i, rows);
      syncWarp();
      piece.template finishRead<isWhole>(now, rows);
      piece.firstN += PIECE;
      now = next;
    }
  }

  MLC_DEVICE static void leavePiece(const Sum (&sums)[BN / 2], int piece,
                                    Sum *to) {
    Sum part[PIECE / 8][4];
#pragma unroll
    for (int e = 0; e < PIECE / 2; ++e)
      part[e / 4][e % 4] = sums[piece * (PIECE / 2) + e];
    Results::leave(part, to);
  }
};

/// Products of factors of type T, with sums of float32.
template <typename T, int elements> struct ProductOfFloats {
  using Sum = float;
  static constexpr int perWord = elements;
  template <bool aAcross, bool bAcross, int half>
  MLC_DEVICE static void run(float (&d)[half], unsigned long long a,
                             unsigned long long b) {
    multiplyTiles<T, aAcross, bAcross>(d, a, b, true);
  }
};
typedef ProductOfFloats<f16, 2> ProductF16;
typedef ProductOfFloats<bf16, 2> ProductBF16;
/// float32; its maps round to tf32 while they copy.
typedef ProductOfFloats<tf32, 1> ProductTF32;

/// Signed or unsigned bytes, with sums of 32-bit integers.
template <bool aSigned, bool bSigned> struct ProductBytes {
  using Sum = int;
  static constexpr int perWord = 4;
  template <bool aAcross, bool bAcross, int half>
  MLC_DEVICE static void run(int (&d)[half], unsigned long long a,
                             unsigned long long b) {
    static_assert(!aAcross && !bAcross, "bytes lie along K");
    multiplyTilesOfBytes<aSigned, bSigned>(d, a, b, true);
  }
};
