//===- Convolution.h - Gradients that are convolutions ----------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H
#define MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H

#include "dialects/Graph/ConvolutionOps.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Of a convolution's `wanted` operands, by convolutions: the input's gradient
/// is the transposed convolution of the cotangent, and the weight's that of the
/// input by the cotangent, which changes places of batch and channels, and of
/// strides and dilations. Null for a gradient that is not such an operator.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
convolutionGradients(mlir::OpBuilder &builder, ConvOp conv,
                     mlir::Value cotangent, llvm::ArrayRef<bool> wanted);

/// The same of a transposed convolution, which is a convolution's gradient: its
/// input's gradient is that convolution of the cotangent, and its weight's that
/// convolution's weight's.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
transposedConvolutionGradients(mlir::OpBuilder &builder, ConvTransposeOp op,
                               mlir::Value cotangent,
                               llvm::ArrayRef<bool> wanted);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_CONVOLUTION_H
