//===- Layout.h - Blocked layouts and packed weights ------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_LAYOUT_H
#define MLC_PASSES_LAYOUT_LAYOUT_H

#include "passes/Base/Passes.h"

namespace mlc {

/// `mlc-assign-layout`: convolutions work on tensors that are stored as the
/// back end wants them, channels in blocks, [n, C/b, h, w, b], or last, and so
/// does everything between them whose definition can be told of stored tensors
/// (`mlc.laid_out`): element-wise operators, windows, reductions over pixels,
/// concatenations of whole blocks. Where a plain tensor is needed an
/// `mlc.unpack` makes it; the halo of a padded convolution is an `mlc.pad` in
/// front of it. Weights are rearranged by operators on constants, which
/// constant folding carries out. Convolutions of small floats become ones of
/// float32 between casts first. Groups that would fill their blocks badly stay
/// plain. The result computes the same function of finite numbers: where an
/// element in front of a convolution is infinite, fills behind it are NaN, and
/// so is what a further convolution makes of them, as in the tiles of
/// Winograd's algorithm.
std::unique_ptr<mlir::Pass> createLayoutPass(const CodeTarget &target);
/// The same in the layout that is given; the plain one changes nothing.
void assignLayout(mlir::ModuleOp module, const ConvolutionLayout &layout);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_LAYOUT_H
