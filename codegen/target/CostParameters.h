//===- CostParameters.h - A device as the cost model sees it ----*- C++ -*-===//
//
// Rates, sizes and costs of one device. They come from a target description
// (codegen/target/Target.h), where each number stands with its source.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_COSTPARAMETERS_H
#define MLC_CODEGEN_TARGET_COSTPARAMETERS_H

#include <cstdint>
#include <limits>
#include <vector>

namespace mlc {

/// A cache or the memory: what does not fit goes to the next level.
struct MemoryLevel {
  double bytes = std::numeric_limits<double>::infinity();
  double bytesPerSecond = 1e10;
};

/// The part of a contraction's result that one unit computes at a time.
struct OutputTile {
  int64_t rows = 1, columns = 1;
};

/// Rates are of the whole device: all multiprocessors of a GPU, one core of a
/// CPU (mlc spreads all work alike).
struct CostParameters {
  /// Peak of contractions (multiply-adds count two), where tensor cores count
  /// if float32 models use them, and of all other arithmetic.
  double contractionFlopsPerSecond = 1e11, scalarFlopsPerSecond = 1e11;
  /// The share of the peak that a contraction reaches when every unit works on
  /// whole tiles; the share of the scalar peak that is reached where nothing is
  /// used twice (depthwise windows, products with a vector).
  double contractionEfficiency = 0.85, depthwiseEfficiency = 0.3;

  /// What works on its own: multiprocessors. A contraction's tiles go out to
  /// them in waves; a wave takes as long when it is not full.
  int64_t units = 1;
  /// The tiles that kernels for this device have, of which the best is taken.
  /// Results are padded to whole tiles.
  std::vector<OutputTile> tiles = {{1, 1}};
  /// Whether a tile may lie either way (rows and columns swapped).
  bool tilesTurn = false;

  /// Caches that all units share, then the memory, fastest first.
  std::vector<MemoryLevel> memory = {{}};
  /// From launching a kernel to the first result.
  double secondsPerKernel = 1e-6;
  /// Whether operators read a part of a tensor in place (strided), so that a
  /// slice need not copy.
  bool readsInPlace = false;

  /// What a symbol of the model is taken to be.
  int64_t symbolValue = 64;
};

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_COSTPARAMETERS_H
