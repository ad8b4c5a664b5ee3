//===- MathFunctions.h - Elementary functions as arithmetic -----*- C++ -*-===//
//
// Each writes the arithmetic of one function of the operands' type (float32 or
// float64, scalar or vector), which is the builder's.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_MATHFUNCTIONS_H
#define MLC_CODEGEN_CPU_MATHFUNCTIONS_H

#include "codegen/cpu/MathBuilder.h"

namespace mlc::cpu::elementary {

mlir::Value exp(MathBuilder &m, mlir::Value x);
mlir::Value expm1(MathBuilder &m, mlir::Value x);
mlir::Value exp2(MathBuilder &m, mlir::Value x);
mlir::Value sigmoid(MathBuilder &m, mlir::Value x);
mlir::Value tanh(MathBuilder &m, mlir::Value x);
mlir::Value log(MathBuilder &m, mlir::Value x);
mlir::Value log2(MathBuilder &m, mlir::Value x);
mlir::Value log10(MathBuilder &m, mlir::Value x);
mlir::Value log1p(MathBuilder &m, mlir::Value x);
mlir::Value erf(MathBuilder &m, mlir::Value x);
/// The normal distribution's function, (1 + erf(x / sqrt(2))) / 2.
mlir::Value normalCdf(MathBuilder &m, mlir::Value x);
mlir::Value sin(MathBuilder &m, mlir::Value x);
mlir::Value cos(MathBuilder &m, mlir::Value x);
mlir::Value atan(MathBuilder &m, mlir::Value x);
mlir::Value asin(MathBuilder &m, mlir::Value x);
mlir::Value acos(MathBuilder &m, mlir::Value x);
mlir::Value sinh(MathBuilder &m, mlir::Value x);
mlir::Value cosh(MathBuilder &m, mlir::Value x);
mlir::Value pow(MathBuilder &m, mlir::Value x, mlir::Value y);
/// In f64, for results that are rounded to f32.
mlir::Value powForF32(MathBuilder &m, mlir::Value x, mlir::Value y);
mlir::Value remainder(MathBuilder &m, mlir::Value x, mlir::Value y);

} // namespace mlc::cpu::elementary

#endif // MLC_CODEGEN_CPU_MATHFUNCTIONS_H
