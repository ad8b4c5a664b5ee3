//===- Convolution.h - Gradients that are convolutions ----------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H
#define MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H

#include "dialects/Graph/ConvolutionOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Gradients of a convolution's `wanted` operands, by convolutions. The input's
/// gradient is the transposed convolution of the cotangent. The weight's
/// gradient is the convolution of the input by the cotangent, with batch and
/// channels swapped, and strides and dilations swapped. Null for a gradient
/// that is not such an operator.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
convolutionGradients(mlir::OpBuilder &builder, ConvOp conv,
                     mlir::Value cotangent, llvm::ArrayRef<bool> wanted);

/// The same for a transposed convolution, the gradient of a convolution: its
/// input's gradient is that convolution of the cotangent, and its weight's
/// gradient is that convolution's weight gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
transposedConvolutionGradients(mlir::OpBuilder &builder, ConvTransposeOp op,
                               mlir::Value cotangent,
                               llvm::ArrayRef<bool> wanted);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H
