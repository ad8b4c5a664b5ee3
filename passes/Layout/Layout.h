//===- Layout.h - Blocked layouts and packed weights ------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_LAYOUT_H
#define MLC_PASSES_LAYOUT_LAYOUT_H

#include "passes/Base/Passes.h"

namespace mlc {

/// `mlc-assign-layout`: convolutions run on tensors in the back end's layout,
/// channels in blocks, [n, C/b, h, w, b], or last. So does everything between
/// them whose definition can be transformed to stored tensors (`mlc.laid_out`):
/// element-wise operators, windows, reductions over pixels, concatenations of
/// whole blocks. An `mlc.unpack` makes a plain tensor where one is needed; the
/// halo of a padded convolution is an `mlc.pad` before it. Weights are
/// rearranged by operators on constants, which constant folding evaluates.
/// Convolutions of small floats first become float32 ones between casts. Groups
/// that would fill their blocks badly stay plain. The result computes the same
/// function of finite numbers. If an element before a convolution is infinite,
/// fills after it are NaN, and so is what a further convolution computes from
/// them, as in the tiles of Winograd's algorithm.
///
/// Where the back end wants channels last, only those parts of a function
/// change whose convolutions gain more than the transposes at the part's
/// borders cost (Backend::getChannelsLastGain). `precision`: of contractions of
/// float32.
std::unique_ptr<mlir::Pass>
createLayoutPass(const CodeTarget &target,
                 Precision precision = Precision::TF32);
/// The same with the given layout for all convolutions; the plain one changes
/// nothing.
void assignLayout(mlir::ModuleOp module, const ConvolutionLayout &layout);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_LAYOUT_H
