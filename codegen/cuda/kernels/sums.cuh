
/// Each of THREADS threads has partial sums of EACH neighbouring sums; LANES
/// neighbouring threads have other ones. Returns the block's sum, one in each of
/// its first LANES * EACH threads. The order is always the same.
template <int THREADS, int LANES, int EACH>
MLC_DEVICE Sums addUpInBlock(Sums (&sums)[EACH]) {
  static_assert(LANES <= 32, "a warp has all lanes");
  constexpr int width = LANES * EACH;
  Sums *ofWarps = reinterpret_cast<Sums *>(sharedMemory());
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int e = 0; e < EACH; ++e) {
#pragma unroll
    for (int distance = 16; distance >= LANES; distance /= 2)
      sums[e] = combined(sums[e], exchanged(sums[e], distance));
    if (lane < LANES)
      ofWarps[warp * width + lane * EACH + e] = sums[e];
  }
  syncBlock();
  Sums sum = ofWarps[threadIdx.x % width];
  if (threadIdx.x < width)
    for (int w = 1; w < THREADS / 32; ++w)
      sum = combined(sum, ofWarps[w * width + threadIdx.x]);
  return sum;
}

/// The same where every thread has one of WIDTH sums, number `threadIdx.x %
/// WIDTH`.
template <int THREADS, int WIDTH> MLC_DEVICE Sums addUpThreads(Sums sum) {
  if constexpr (WIDTH <= 32) {
    Sums sums[1] = {sum};
    return addUpInBlock<THREADS, WIDTH, 1>(sums);
  } else {
    Sums *ofThreads = reinterpret_cast<Sums *>(sharedMemory());
    ofThreads[threadIdx.x] = sum;
    syncBlock();
    if (threadIdx.x < WIDTH)
      for (int i = 1; i < THREADS / WIDTH; ++i)
        sum = combined(sum, ofThreads[i * WIDTH + threadIdx.x]);
    return sum;
  }
}

/// Adds up the partial sums of the block's threads, as addUpInBlock(), and those
/// of the other blocks that share the sums. Returns whether this block has the
/// totals, one in each of its first LANES * EACH threads. `none` is the
/// identity.
template <int THREADS, int LANES, int EACH>
MLC_DEVICE bool addUp(Sums &total, Sums (&sums)[EACH], const Sums &none,
                      int parts, uint8_t *workspace, long long task) {
  constexpr int width = LANES * EACH;
  static_assert(THREADS % width == 0, "threads have whole rows of sums");
  total = addUpInBlock<THREADS, LANES>(sums);
  if (parts == 1)
    return true;
  if (threadIdx.x < width)
    partAt<Sums>(workspace, task, width)[threadIdx.x] = total;
  if (!isLastOf(parts, workspace, task / parts))
    return false;
  const Sums *part = partAt<Sums>(workspace, task / parts * parts, width);
  total = none;
#pragma unroll 8
  for (int i = threadIdx.x / width; i < parts; i += THREADS / width)
    total = combined(total, part[i * width + threadIdx.x % width]);
  total = addUpThreads<THREADS, width>(total);
  return true;
}

