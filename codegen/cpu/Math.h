//===- Math.h - Elementary functions without a library ----------*- C++ -*-===//
//
// Kernels call no libm, so math functions become arithmetic here: those of
// MathFunctions.h, ipowi and rsqrt, on scalars and vectors of f32 and f64. NaN,
// infinities and overflow follow IEEE 754 and C's annex F. Errors (test/codegen
// holds them to it): below 4 units in the last place in f32, below 1e-12
// relative in f64.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CPU_MATH_H
#define MLC_CODEGEN_CPU_MATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlc::cpu {

/// Rewrites compositions that lose accuracy if computed step by step: 1 / (1 +
/// exp(-x)), exp(x) - 1, log(1 + x) and the normal distribution function. Apply
/// these patterns before the others.
void populateMathRecognitionPatterns(mlir::RewritePatternSet &patterns);

/// Rewrites math ops that LLVM would turn into calls of libm.
void populateMathExpansionPatterns(mlir::RewritePatternSet &patterns);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_MATH_H
