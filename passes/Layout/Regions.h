//===- Regions.h - Where channels are last ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_LAYOUT_REGIONS_H
#define MLC_PASSES_LAYOUT_REGIONS_H

#include "codegen/Backends.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Layout/StoredForms.h"
#include "llvm/ADT/BitVector.h"

namespace mlc {

/// Lays out the convolutions of `function` that are `chosen` (by their number
/// in it; all unless given), and what can follow. For each convolution its
/// stored result; null for one that stays as it is.
llvm::SmallVector<mlir::Value>
layOutFunction(mlir::func::FuncOp function, const ConvolutionLayout &layout,
               std::optional<llvm::BitVector> chosen = std::nullopt);

/// The convolutions that gain from channels that are last, by the target's
/// costs. A *region* is what is connected by stored tensors. Transposes at its
/// borders, and concatenations that would be in place otherwise, must cost less
/// than its convolutions gain; the prediction's error counts against it. Not
/// chosen are convolutions of other ranks, and such with weights that a run may
/// change, as in training.
struct ChosenConvolutions {
  llvm::BitVector chosen;
  /// The target's, which may fill up the channels of images, or the same
  /// without that, whichever gains more.
  ConvolutionLayout layout;
  double gain = 0; ///< in seconds
};
ChosenConvolutions chooseConvolutions(mlir::func::FuncOp function,
                                      const CodeTarget &target,
                                      Precision precision);

} // namespace mlc

#endif // MLC_PASSES_LAYOUT_REGIONS_H
