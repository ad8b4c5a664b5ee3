//===- FactorMap.h - Factors that the copy engine reads ---------*- C++ -*-===//
//
// A factor of a contraction has a tensor map if its K, its rows and its batch
// are each a dim of a tensor, in memory without bounds. Tiles then come by
// boxes of the map; what lies outside is zero.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_FACTORMAP_H
#define MLC_CODEGEN_CUDA_FACTORMAP_H

#include "codegen/cuda/Contraction.h"

namespace mlc::cuda {

struct FactorMap {
  /// What a dim of a map for boxes is.
  enum class Role { K, Row, Batch };
  struct Dim {
    Role role;
    /// Batch: which of the runs that the loops of the batch make (joinRuns).
    unsigned run = 0;
    IntExpr extent, stride; ///< in elements
  };
  /// A dim of a map for pixels: the factor's rows are pixels, and its K the
  /// places of a filter and channels. A pixel is at `offset + step * row`, and
  /// a place of the filter `dilation * k` behind it.
  struct PixelDim {
    std::optional<unsigned> row, k; ///< loops
    int64_t offset = 0, step = 1, dilation = 1;
    IntExpr extent, stride;
  };

  KernelMap map;
  /// The fastest first.
  llvm::SmallVector<Dim> dims;
  /// Instead, if the map is for pixels: all but the channels'.
  llvm::SmallVector<PixelDim> pixelDims;
  /// Whether neighbours lie along K; else along rows.
  bool alongK = true;
};

/// The map for tiles of `tileRows` rows and 128 bytes of K, swizzled. None if
/// the copy engine cannot read the factor for all sizes. Neighbours of other
/// types than those of 16 bits lie along K.
std::optional<FactorMap> findFactorMap(const Kernel &kernel,
                                       const Contraction &c,
                                       const Access &access, const Roles &roles,
                                       llvm::ArrayRef<unsigned> rows,
                                       int64_t tileRows);

/// The same where rows are pixels that a filter passes over: a convolution's
/// input with channels last (im2col). Rows may have zeros around them.
std::optional<FactorMap> findPixelMap(const Kernel &kernel,
                                      const Contraction &c,
                                      const Access &access, const Roles &roles,
                                      llvm::ArrayRef<unsigned> rows,
                                      int64_t tileRows);

/// The element of a map of tensors of `type`, if there is one; float32 is
/// rounded to tf32.
std::optional<runtime::MapElement> elementOfMap(mlir::Type type);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_FACTORMAP_H
