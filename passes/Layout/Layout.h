//===- Layout.h - Blocked layouts and packed weights ------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_LAYOUT_H
#define MLC_PASSES_LAYOUT_LAYOUT_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlc {

struct LayoutOptions {
  /// Channels per block: the innermost dim of blocked tensors.
  int64_t block = 16;
};

/// `mlc-assign-layout`: convolutions with constant weights work on blocked
/// channels, [n, C/16, h, w, 16], and so does everything between them that can:
/// element-wise operators, pooling, reductions over pixels, concatenations of
/// whole blocks. Where a plain tensor is needed an `mlc.unpack` makes it; the
/// halo of a padded convolution is an `mlc.pad` in front of it. Weights are
/// rearranged by operators on constants, which constant folding carries out.
/// Convolutions of small floats become ones of float32 between casts first.
/// Groups that would fill their blocks badly stay plain.
/// The result computes the same function.
std::unique_ptr<mlir::Pass> createLayoutPass(LayoutOptions options = {});
mlir::LogicalResult assignLayout(mlir::ModuleOp module,
                                 LayoutOptions options = {});
void registerLayoutPass();

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_LAYOUT_H
