//===- Tiles.h - The tiles of a contraction on tensor cores -----*- C++ -*-===//
//
// The choice of a tile depends on sizes alone, so that the emitter and the cost
// model make the same.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_TILES_H
#define MLC_CODEGEN_CUDA_TILES_H

#include "codegen/target/AlgorithmCosts.h"
#include "codegen/target/Target.h"

namespace mlc::cuda {

/// The part of the result that a block of `warpsM` x `warpsN` warps computes,
/// and the steps along K whose factors are in shared memory at a time.
struct WarpTile {
  int64_t m, n, warpsM, warpsN, stages;
  /// Blocks on a multiprocessor, for which registers are saved.
  int64_t resident;
  /// Whether both factors must come by 16 bytes: a thread that copies less at a
  /// time needs registers for more places.
  bool needsVectors;

  int64_t threads() const { return warpsM * warpsN * 32; }
  /// A step takes 32 words of every row.
  int64_t bytes() const { return stages * (m + n) * 32 * 4; }
};

/// The largest tile that still gives every multiprocessor work and fits into
/// shared memory wherever code for the target runs. `isByVectors`: both factors
/// are copied by 16 bytes.
WarpTile chooseWarpTile(const ProductShape &shape, const Target &target,
                        bool isByVectors);

/// The same by warpgroups (kernels/wgmma.cuh): `groups` of them multiply, of
/// `m / groups` rows each.
struct GroupTile {
  int64_t m, n, groups, stages;
  /// Columns that leave registers together.
  int64_t piece;
  /// Blocks on a multiprocessor.
  int64_t resident;
  /// The least K, in steps, for which such a tile pays.
  int64_t leastSteps;

  bool operator==(const GroupTile &) const = default;
  int64_t threads() const { return (groups + 1) * 128; }
  int64_t bytes() const {
    constexpr int64_t barriers = 256, alignment = 1024;
    int64_t rows = groups * 4 * 16 * (piece + 8) * 4;
    return barriers + alignment + stages * (m + n) * 128 + rows;
  }
};
/// The tile that is estimated to take least.
GroupTile chooseGroupTile(const ProductShape &shape, const Target &target);
/// How many blocks share a tile at most. With more the last one takes longer to
/// add up their sums than is gained.
int64_t mostPartsOfGroups(const ProductShape &shape, const Target &target,
                          const GroupTile &tile);
int64_t mostPartsOfWarps(const ProductShape &shape, const Target &target,
                         const WarpTile &tile);
/// Whether warpgroups compute products of that size for `target`, if they can
/// read the factors: a tile has 64 rows and columns, a step 128 bytes of K. A
/// quarter of a step is enough, and of columns where rows are many.
bool suitsGroups(const ProductShape &shape, const Target &target);

/// The estimated seconds that a multiprocessor full of such tiles takes for all
/// of K.
double secondsOfStepsOfGroups(const ProductShape &shape, const Target &target);
/// The estimated seconds of the arithmetic of `count` products that read a
/// common factor, as one launch; none if warpgroups do not compute them.
std::optional<double> joinedSeconds(const ProductShape &shape,
                                    const Target &target, unsigned count);

/// How many elements along K a step takes: 32 words of every row.
constexpr int64_t elementsOfStep(int64_t elementBytes) {
  return 32 * 4 / elementBytes;
}

/// Bytes of shared memory that a block may have wherever code for `target`
/// runs.
int64_t sharedOfBlock(const Target &target);

/// The tiles of `m` x `n` that cover the results of all products.
int64_t countTiles(const ProductShape &shape, int64_t m, int64_t n);

/// The estimated seconds of the arithmetic of products on tensor cores
/// (Backend::getProductSeconds): waves of tiles, each a number of steps. None
/// if the target has no kernels for tensor cores.
std::optional<double> productSeconds(const ProductShape &shape,
                                     const Target &target);
/// The same if warpgroups cannot read the factors.
std::optional<double> productSecondsOfWarps(const ProductShape &shape,
                                            const Target &target);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_TILES_H
