//===- CostParameters.h - A device as the cost model sees it ----*- C++ -*-===//
//
// Rates, sizes and costs of one device. They come from a target description
// (codegen/target/Target.h), which gives the source of each number.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_COSTPARAMETERS_H
#define MLC_CODEGEN_TARGET_COSTPARAMETERS_H

#include <cstdint>
#include <limits>
#include <vector>

namespace mlc {

/// A cache or the memory; data that does not fit goes to the next level.
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
  /// Peak of contractions (multiply-adds count two; includes tensor cores if
  /// float32 models use them), and of all other arithmetic.
  double contractionFlopsPerSecond = 1e11, scalarFlopsPerSecond = 1e11;
  /// The share of the peak that a contraction reaches when every unit works on
  /// whole tiles; the share of the scalar peak that is reached without data
  /// reuse (depthwise windows, products with a vector).
  double contractionEfficiency = 0.85, depthwiseEfficiency = 0.3;

  /// Independent units: multiprocessors. A contraction's tiles go out to them
  /// in waves; a partial wave takes as long as a full one.
  int64_t units = 1;
  /// The tile sizes of this device's kernels; the best is taken. Results are
  /// padded to whole tiles.
  std::vector<OutputTile> tiles = {{1, 1}};
  /// Whether rows and columns of a tile may be swapped.
  bool tilesTurn = false;

  /// Caches that all units share, then the memory, fastest first.
  std::vector<MemoryLevel> memory = {{}};
  /// The time from the launch of a kernel to its first result.
  double secondsPerKernel = 1e-6;
  /// Whether operators read a part of a tensor in place (strided), so that a
  /// slice need not copy.
  bool readsInPlace = false;
  /// By how much predictions of kernels err, as a share; 0 if unknown. A search
  /// charges kernels that the given graph does not have that much more, so it
  /// rewrites only what pays beyond the error.
  double predictionError = 0;

  /// The assumed value of a symbol of the model.
  int64_t symbolValue = 64;
};

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_COSTPARAMETERS_H
