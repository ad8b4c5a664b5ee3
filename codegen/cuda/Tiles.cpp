//===- Tiles.cpp - The tiles of a contraction on tensor cores -------------===//

#include "codegen/cuda/Tiles.h"
#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Parts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"

namespace mlc::cuda {

int64_t countTiles(const ProductShape &shape, int64_t m, int64_t n) {
  return int64_t(llvm::divideCeil(shape.rows, m) *
                 llvm::divideCeil(shape.columns, n)) *
         shape.batch;
}

/// Bytes of shared memory that a block may have wherever code for `target`
/// runs.
static int64_t sharedLimit(const Target &target) {
  // Code for sm_90a runs there alone. Code for sm_80 also runs on sm_86, and
  // PTX on anything later; all of these have 99 KiB.
  bool isExact = llvm::StringRef(target.cpu).ends_with("a");
  int arch = EmitOptions{target}.arch();
  return isExact && arch >= 90 && arch < 120 ? 227 << 10 : 99 << 10;
}

WarpTile chooseWarpTile(const ProductShape &shape, const Target &target,
                        bool isByVectors) {
  static const WarpTile tiles[] = {
      {128, 256, 2, 4, 3, 1, true},  {128, 128, 2, 2, 3, 2, true},
      {128, 128, 2, 4, 3, 1, false}, {64, 128, 2, 2, 3, 1, true},
      {64, 128, 2, 4, 3, 1, false},  {64, 64, 2, 2, 4, 1, false},
      {32, 64, 2, 2, 4, 1, false}};
  for (const WarpTile &tile : llvm::ArrayRef(tiles).drop_back())
    if (shape.rows * 4 > tile.m * 3 && shape.columns * 4 > tile.n * 3 &&
        countTiles(shape, tile.m, tile.n) >= target.cost.units &&
        tile.bytes() <= sharedLimit(target) &&
        (isByVectors || !tile.needsVectors))
      return tile;
  return std::end(tiles)[-1];
}

GroupTile chooseGroupTile(const ProductShape &shape, const Target &target) {
  static const GroupTile tiles[] = {{128, 256, 2, 4, 32, 1, 16},
                                    {128, 128, 2, 5, 64, 1, 0},
                                    {128, 64, 2, 5, 64, 1, 0},
                                    {64, 128, 1, 3, 64, 2, 0},
                                    {64, 64, 1, 4, 64, 2, 0}};
  int64_t steps = llvm::divideCeil(shape.k, elementsOfStep(shape.elementBytes));
  for (const GroupTile &tile : llvm::ArrayRef(tiles).drop_back())
    if (shape.rows * 4 > tile.m * 3 && shape.columns * 4 > tile.n * 3 &&
        steps >= tile.leastSteps &&
        countTiles(shape, tile.m, tile.n) >= target.cost.units)
      return tile;
  return std::end(tiles)[-1];
}

bool suitsGroups(const ProductShape &shape, const Target &target) {
  // Code for sm_90a runs on that alone.
  return target.cpu == "sm_90a" && shape.rows > 32 && shape.columns > 32 &&
         shape.k * shape.elementBytes >= 128;
}

namespace {
/// How long a multiprocessor takes for a step along K of a tile.
struct Pace {
  /// The least, however small the tile is: it waits for factors.
  double wait;
  /// The share of the peak that large tiles reach.
  double shareOfPeak;
};
} // namespace

// docs/Measurements/cost-model.md. Of warpgroups: fitted to a trial's kernel of
// the same design. Of others: to mlc's kernels on an H200; windows of a
// convolution take divisions as well.
static constexpr Pace ofGroups = {0.18e-6, 0.72}, ofWarps = {0.6e-6, 0.22},
                      ofWindows = {0.85e-6, 0.22};

/// The seconds of a step on a multiprocessor, which has `resident` tiles.
static double secondsOfStep(const ProductShape &shape, const Target &target,
                            int64_t m, int64_t n, int64_t resident, Pace pace) {
  int64_t step = elementsOfStep(shape.elementBytes);
  double peak = target.cost.contractionFlopsPerSecond / target.cost.units *
                (4.0 / shape.elementBytes);
  return std::max(2.0 * m * n * step * resident / (peak * pace.shareOfPeak),
                  pace.wait);
}

/// The seconds of all waves of tiles.
static double secondsOfTiles(const ProductShape &shape, const Target &target,
                             int64_t m, int64_t n, int64_t resident,
                             Pace pace) {
  int64_t step = elementsOfStep(shape.elementBytes);
  int64_t tiles = std::max<int64_t>(countTiles(shape, m, n), 1);
  int64_t parts =
      chooseParts(tiles, shape.k, leastKOfPart(step), mostPartsOfTile, target);
  double steps = llvm::divideCeil(llvm::divideCeil(shape.k, step), parts);
  double waves = llvm::divideCeil(tiles * parts, target.cost.units * resident);
  return waves * steps * secondsOfStep(shape, target, m, n, resident, pace);
}

double secondsOfStepsOfGroups(const ProductShape &shape, const Target &target) {
  GroupTile tile = chooseGroupTile(shape, target);
  double steps = llvm::divideCeil(shape.k, elementsOfStep(shape.elementBytes));
  return steps *
         secondsOfStep(shape, target, tile.m, tile.n, tile.resident, ofGroups);
}

std::optional<double> productSecondsOfWarps(const ProductShape &shape,
                                            const Target &target) {
  if (EmitOptions{target}.arch() < 80)
    return std::nullopt;
  WarpTile tile = chooseWarpTile(shape, target, !shape.hasWindows);
  return secondsOfTiles(shape, target, tile.m, tile.n, 1,
                        shape.hasWindows ? ofWindows : ofWarps);
}

std::optional<double> productSeconds(const ProductShape &shape,
                                     const Target &target) {
  if (shape.hasWindows || !suitsGroups(shape, target))
    return productSecondsOfWarps(shape, target);
  GroupTile tile = chooseGroupTile(shape, target);
  return secondsOfTiles(shape, target, tile.m, tile.n, tile.resident, ofGroups);
}

} // namespace mlc::cuda
