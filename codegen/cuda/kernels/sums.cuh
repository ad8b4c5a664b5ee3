
/// Each of THREADS threads has a partial sum of one of WIDTH neighbouring sums,
/// number `threadIdx.x % WIDTH`. Adds these and those of the other blocks that
/// share the sums, always in the same order. Returns whether this block has the
/// totals, one in each of its first WIDTH threads. `none` is the identity.
template <int THREADS, int WIDTH>
MLC_DEVICE bool addUp(Sums &sums, const Sums &none, int parts, uint8_t *workspace,
                      long long task) {
  static_assert(WIDTH == 1 || WIDTH == 32, "a warp has one sum, or one a lane");
  Sums *ofWarps = reinterpret_cast<Sums *>(sharedMemory());
  auto addUpInBlock = [&] {
    if (WIDTH == 1)
      for (int distance = 16; distance > 0; distance /= 2)
        sums = combined(sums, exchanged(sums, distance));
    if (threadIdx.x % 32 < WIDTH)
      ofWarps[threadIdx.x / 32 * WIDTH + threadIdx.x % 32] = sums;
    syncBlock();
    if (threadIdx.x < WIDTH)
      for (int warp = 1; warp < THREADS / 32; ++warp)
        sums = combined(sums, ofWarps[warp * WIDTH + threadIdx.x]);
  };
  addUpInBlock();
  if (parts == 1)
    return true;
  if (threadIdx.x < WIDTH)
    partAt<Sums>(workspace, task, WIDTH)[threadIdx.x] = sums;
  if (!isLastOf(parts, workspace, task / parts))
    return false;
  const Sums *part = partAt<Sums>(workspace, task / parts * parts, WIDTH);
  sums = none;
  for (int i = threadIdx.x / WIDTH; i < parts; i += THREADS / WIDTH)
    sums = combined(sums, part[i * WIDTH + threadIdx.x % WIDTH]);
  addUpInBlock();
  return true;
}
