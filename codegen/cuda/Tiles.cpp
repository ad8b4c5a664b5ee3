//===- Tiles.cpp - The tiles of a contraction on tensor cores -------------===//

#include "codegen/cuda/Tiles.h"
#include "codegen/cuda/KernelPrinter.h"
#include "codegen/cuda/Parts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace mlc::cuda {

int64_t countTiles(const ProductShape &shape, int64_t m, int64_t n) {
  return int64_t(llvm::divideCeil(shape.rows, m) *
                 llvm::divideCeil(shape.columns, n)) *
         shape.batch;
}

int64_t sharedOfBlock(const Target &target) {
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
        tile.bytes() <= sharedOfBlock(target) &&
        (isByVectors || !tile.needsVectors))
      return tile;
  return std::end(tiles)[-1];
}

bool suitsGroups(const ProductShape &shape, const Target &target) {
  int64_t few = std::min(shape.rows, shape.columns);
  int64_t many = std::max(shape.rows, shape.columns);
  // Where a tile is mostly empty, the products are worth it only if memory is
  // what takes long.
  bool fillsTiles = few > 32 || (few >= 16 && many >= 64 * target.cost.units);
  // Code for sm_90a runs on that alone.
  return target.cpu == "sm_90a" && fillsTiles &&
         shape.k * shape.elementBytes >= 32;
}

namespace {
/// How long a multiprocessor takes for a step along K of a tile.
struct Pace {
  /// The least, however small the tile is: it waits for factors.
  double wait;
  /// The share of the peak that large tiles reach.
  double shareOfPeak;
  /// What all of them read from the cache, by what the target says; 0 if other
  /// things take longer.
  double shareOfCache;
};
} // namespace

// docs/Measurements/cost-model.md. Of warpgroups and of others: mlc's kernels
// on an H200. Windows of a convolution take divisions as well.
static constexpr Pace ofGroups = {0.24e-6, 0.74, 1.15},
                      ofWarps = {0.6e-6, 0.22, 0},
                      ofWindows = {0.85e-6, 0.22, 0};

/// The seconds of a step on a multiprocessor, which has `resident` tiles.
static double secondsOfStep(const ProductShape &shape, const Target &target,
                            int64_t m, int64_t n, int64_t resident, Pace pace) {
  int64_t step = elementsOfStep(shape.elementBytes);
  double units = double(target.cost.units);
  double peak = target.cost.contractionFlopsPerSecond / units *
                (4.0 / shape.elementBytes);
  double seconds = std::max(
      2.0 * m * n * step * resident / (peak * pace.shareOfPeak), pace.wait);
  // All multiprocessors read their factors from the cache that they share.
  if (pace.shareOfCache > 0)
    seconds = std::max(seconds, double((m + n) * 128 * resident) * units /
                                    (target.cost.memory.front().bytesPerSecond *
                                     pace.shareOfCache));
  return seconds;
}

/// How fast a block adds up what others left, and what it waits before: the
/// last of those that share a tile is told by a counter.
constexpr double partBytesPerSecond = 47e9, handOver = 1.5e-6;

static double secondsOfParts(int64_t parts, int64_t m, int64_t n) {
  return parts > 1 ? handOver + double(parts * m * n * 4) / partBytesPerSecond
                   : 0;
}

/// The number of parts of K that takes least: steps become fewer with each, and
/// sums to add up become more.
static int64_t bestParts(const ProductShape &shape, int64_t m, int64_t n,
                         double secondsOfStep) {
  int64_t steps = llvm::divideCeil(shape.k, elementsOfStep(shape.elementBytes));
  double whole = double(steps) * secondsOfStep;
  double each = double(m * n * 4) / partBytesPerSecond;
  auto parts = std::clamp<int64_t>(std::llround(std::sqrt(whole / each)), 1,
                                   mostPartsOfTile);
  return whole / double(parts) + secondsOfParts(parts, m, n) < whole ? parts
                                                                     : 1;
}

namespace {
/// How the work is spread: blocks that share each tile, the steps of each, and
/// how often a multiprocessor takes blocks.
struct Spread {
  Spread(const ProductShape &shape, const Target &target, int64_t m, int64_t n,
         int64_t resident, int64_t partsResident, int64_t mostParts) {
    int64_t step = elementsOfStep(shape.elementBytes);
    tiles = std::max<int64_t>(countTiles(shape, m, n), 1);
    parts = chooseParts(tiles, shape.k, leastKOfPart(step), mostParts, target,
                        partsResident);
    steps = llvm::divideCeil(llvm::divideCeil(shape.k, step), parts);
    waves = llvm::divideCeil(tiles * parts, target.cost.units * resident);
  }
  int64_t tiles, parts, steps, waves;
};
} // namespace

int64_t mostPartsOfGroups(const ProductShape &shape, const Target &target,
                          const GroupTile &tile) {
  return bestParts(shape, tile.m, tile.n,
                   secondsOfStep(shape, target, tile.m, tile.n, 1, ofGroups));
}

int64_t mostPartsOfWarps(const ProductShape &shape, const Target &target,
                         const WarpTile &tile) {
  return bestParts(shape, tile.m, tile.n,
                   secondsOfStep(shape, target, tile.m, tile.n, 1, ofWarps));
}

static double secondsOfWarps(const ProductShape &shape, const Target &target,
                             const WarpTile &tile, Pace pace) {
  Spread spread(shape, target, tile.m, tile.n, 1, 2,
                mostPartsOfWarps(shape, target, tile));
  return double(spread.waves * spread.steps) *
             secondsOfStep(shape, target, tile.m, tile.n, 1, pace) +
         secondsOfParts(spread.parts, tile.m, tile.n);
}

static double secondsOfGroups(const ProductShape &shape, const Target &target,
                              const GroupTile &tile) {
  Spread spread(shape, target, tile.m, tile.n, tile.resident, tile.resident,
                mostPartsOfGroups(shape, target, tile));
  int64_t resident = std::min<int64_t>(
      tile.resident,
      llvm::divideCeil(spread.tiles * spread.parts, target.cost.units));
  // No products are computed while a tile's results are finished.
  constexpr double ofTile = 1.5e-6, ofResult = 60e-12;
  double step =
      secondsOfStep(shape, target, tile.m, tile.n, resident, ofGroups);
  return double(spread.waves) *
             (double(spread.steps) * step + ofTile +
              double(tile.m * tile.n * resident) * ofResult) +
         secondsOfParts(spread.parts, tile.m, tile.n);
}

GroupTile chooseGroupTile(const ProductShape &shape, const Target &target) {
  // The larger first: of tiles that take the same time, it reads less.
  static const GroupTile tiles[] = {
      {128, 256, 2, 4, 32, 1, 16}, {128, 192, 2, 4, 32, 1, 12},
      {128, 128, 2, 5, 64, 1, 0},  {128, 64, 2, 5, 64, 1, 0},
      {64, 128, 1, 3, 64, 2, 0},   {64, 64, 1, 4, 64, 2, 0}};
  int64_t steps = llvm::divideCeil(shape.k, elementsOfStep(shape.elementBytes));
  const GroupTile *best = nullptr;
  double least = 0;
  for (const GroupTile &tile : tiles) {
    if (steps < tile.leastSteps)
      continue;
    double seconds = secondsOfGroups(shape, target, tile);
    // A smaller one must be better by more than what the estimate knows.
    if (best && seconds >= 0.97 * least)
      continue;
    best = &tile;
    least = seconds;
  }
  return *best;
}

double secondsOfStepsOfGroups(const ProductShape &shape, const Target &target) {
  GroupTile tile = chooseGroupTile(shape, target);
  double steps = llvm::divideCeil(shape.k, elementsOfStep(shape.elementBytes));
  return steps *
         secondsOfStep(shape, target, tile.m, tile.n, tile.resident, ofGroups);
}

std::optional<double> joinedSeconds(const ProductShape &shape,
                                    const Target &target, unsigned count) {
  if (shape.hasWindows || !suitsGroups(shape, target))
    return std::nullopt;
  GroupTile tile = chooseGroupTile(shape, target);
  int64_t tiles = count * countTiles(shape, tile.m, tile.n);
  return secondsOfStepsOfGroups(shape, target) *
         double(llvm::divideCeil(tiles, target.cost.units * tile.resident));
}

std::optional<double> productSecondsOfWarps(const ProductShape &shape,
                                            const Target &target) {
  if (EmitOptions{target}.arch() < 80)
    return std::nullopt;
  WarpTile tile = chooseWarpTile(shape, target, !shape.hasWindows);
  return secondsOfWarps(shape, target, tile,
                        shape.hasWindows ? ofWindows : ofWarps);
}

std::optional<double> productSeconds(const ProductShape &shape,
                                     const Target &target) {
  if (shape.hasWindows || !suitsGroups(shape, target))
    return productSecondsOfWarps(shape, target);
  return secondsOfGroups(shape, target, chooseGroupTile(shape, target));
}

} // namespace mlc::cuda
