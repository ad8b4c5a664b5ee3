//===- WeightConvolution.h - A weight's gradient ----------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_WEIGHTCONVOLUTION_H
#define MLC_PASSES_DIFFERENTIATE_WEIGHTCONVOLUTION_H

#include "dialects/Symbolic/Attributes.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// sum_{n,h} dY[n,o,h] X<0>[n,c,h dilation + u stride - pad], with dims [o, c,
/// u]: a convolution whose images are the channels of X, whose channels are its
/// batch, and whose windows are whole images of dY.
mlir::FailureOr<mlir::Value>
weightConvolution(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                  mlir::Value cotangent, DimsAttr strides, DimsAttr pads,
                  DimsAttr dilations);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_WEIGHTCONVOLUTION_H
