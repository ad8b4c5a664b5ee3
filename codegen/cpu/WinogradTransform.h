//===- WinogradTransform.h - Matrices of F(m,3) -----------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CPU_WINOGRADTRANSFORM_H
#define MLC_CODEGEN_CPU_WINOGRADTRANSFORM_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlc::cpu {

/// A small dense matrix.
struct TransformMatrix {
  unsigned rows, columns;
  std::vector<double> values;
  double at(unsigned r, unsigned c) const { return values[r * columns + c]; }
};

/// The matrices of F(m,3), m = 2 (points 0, ±1, ∞) or 4 (0, ±1, ±2, ∞).
struct WinogradMatrices {
  TransformMatrix input;  ///< Bᵀ, (m+2) × (m+2)
  TransformMatrix filter; ///< G, (m+2) × 3
  TransformMatrix output; ///< Aᵀ, m × (m+2)
};
const WinogradMatrices &winogradMatrices(int64_t m);

} // namespace mlc::cpu

#endif // MLC_CODEGEN_CPU_WINOGRADTRANSFORM_H
