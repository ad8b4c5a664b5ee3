//===- MathFunctions.h - Elementary functions as arithmetic -----*- C++ -*-===//
//
// Each function emits the arithmetic of one math function in the builder's type
// (float32 or float64, scalar or vector).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_MATHFUNCTIONS_H
#define MLC_CODEGEN_CPU_MATHFUNCTIONS_H

#include "codegen/cpu/MathBuilder.h"

namespace mlc::cpu::elementary {

/// The expansion of an operation of one operand.
struct UnaryFunction {
  llvm::StringLiteral operation;
  mlir::Value (*emit)(MathBuilder &m, mlir::Value x);
  /// Computed in f64 also for f32.
  bool inF64 = false;
};
llvm::ArrayRef<UnaryFunction> unaryFunctions();

mlir::Value exp(MathBuilder &m, mlir::Value x);
mlir::Value expm1(MathBuilder &m, mlir::Value x);
mlir::Value sigmoid(MathBuilder &m, mlir::Value x);
/// x if the value is the error function of x; otherwise null.
mlir::Value argumentOfErrorFunction(mlir::Value value);
/// The normal distribution function.
mlir::Value normalCdf(MathBuilder &m, mlir::Value x);
mlir::Value sin(MathBuilder &m, mlir::Value x);
mlir::Value cos(MathBuilder &m, mlir::Value x);
mlir::Value atan(MathBuilder &m, mlir::Value x);
mlir::Value asin(MathBuilder &m, mlir::Value x);
mlir::Value acos(MathBuilder &m, mlir::Value x);
mlir::Value pow(MathBuilder &m, mlir::Value x, mlir::Value y);
/// In f64, for results that are rounded to f32.
mlir::Value powForF32(MathBuilder &m, mlir::Value x, mlir::Value y);
mlir::Value remainder(MathBuilder &m, mlir::Value x, mlir::Value y);

} // namespace mlc::cpu::elementary

#endif // MLC_CODEGEN_CPU_MATHFUNCTIONS_H
