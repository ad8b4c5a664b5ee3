//===- Phases.h - Gradients of strided convolutions -------------*- C++ -*-===//
//
// With a stride s, elements of the image at i + pad = r modulo s meet only the
// taps of the kernel at r modulo s. So each of the s phases of an image is a
// convolution of stride 1 with every s-th tap. The gradients are assembled from
// those of the phases, without multiplying by zeros between elements.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_PHASES_H
#define MLC_PASSES_DIFFERENTIATE_PHASES_H

#include "dialects/Graph/ConvolutionOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Whether a convolution is split into phases here: known strides and kernel
/// dims, some stride not 1, at most 16 phases, no dilation.
bool hasPhases(ConvOp conv);

mlir::FailureOr<mlir::Value> inputGradientByPhases(mlir::OpBuilder &builder,
                                                   ConvOp conv,
                                                   mlir::Value cotangent);
/// `conv` has one group.
mlir::FailureOr<mlir::Value> weightGradientByPhases(mlir::OpBuilder &builder,
                                                    ConvOp conv,
                                                    mlir::Value cotangent);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_PHASES_H
