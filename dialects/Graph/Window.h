//===- Window.h - Sliding windows of convolution and pooling ----*- C++ -*-===//

#ifndef MLC_DIALECTS_GRAPH_WINDOW_H
#define MLC_DIALECTS_GRAPH_WINDOW_H

#include "dialects/Definition/OpInterfaces.h"

namespace mlc {

/// Windows over `rank` spatial dims: where they start and what they reach.
struct Window {
  llvm::SmallVector<IntExpr> sizes; // of the input, per spatial dim
  llvm::SmallVector<IntExpr> kernel, strides, dilations;
  llvm::SmallVector<IntExpr> low, high; // padding
  llvm::SmallVector<IntExpr> ceilPads;  // past the padded end (ceil_mode)

  unsigned rank() const { return kernel.size(); }
  /// (k - 1) d + 1.
  IntExpr extent(unsigned d) const;
  /// (size + low + high + ceilPads - extent) floordiv stride + 1.
  IntExpr outputSize(unsigned d) const;
  /// Whether every read is in range for all sizes.
  bool isUnpadded() const;
  /// output * stride - low.
  Expr start(unsigned d, Expr output) const;
  /// start + tap * dilation.
  Expr position(unsigned d, Expr output, Expr tap) const;
  /// Requires positive strides and a window that fits.
  void require(DefinitionBuilder &builder) const;
};

/// Checks that attribute lists have one entry per spatial dim (two for pads),
/// that none is a negative constant, and that strides and dilations are not the
/// constant 0.
mlir::LogicalResult checkWindow(mlir::Operation *op, unsigned rank,
                                DimsAttr strides, DimsAttr dilations,
                                DimsAttr pads);

} // namespace mlc

#endif // MLC_DIALECTS_GRAPH_WINDOW_H
