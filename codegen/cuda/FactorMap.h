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
  /// What a dim of the map is.
  enum class Role { K, Row, Batch };
  struct Dim {
    Role role;
    /// Batch: which of the runs that the loops of the batch make (joinRuns).
    unsigned run = 0;
    IntExpr extent, stride; ///< in elements
  };

  KernelMap map;
  /// The fastest first.
  llvm::SmallVector<Dim> dims;
  /// Whether neighbours lie along K; else along rows.
  bool alongK;
};

/// The map for tiles of `tileRows` rows and 128 bytes of K, swizzled. None if
/// the copy engine cannot read the factor for all sizes. Neighbours of other
/// types than those of 16 bits lie along K.
std::optional<FactorMap> findFactorMap(const Kernel &kernel,
                                       const Contraction &c,
                                       const Access &access, const Roles &roles,
                                       llvm::ArrayRef<unsigned> rows,
                                       int64_t tileRows);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_FACTORMAP_H
