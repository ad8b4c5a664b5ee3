//===- Difference.h - How far two tensors are apart -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DIFFERENCE_H
#define MLC_TOOLS_MLC_DIFFERENCE_H

#include "tools/mlc/Feed.h"

namespace mlc::cli {

struct Difference {
  /// Why they cannot be compared ("" if they can): types or dims.
  std::string mismatch;
  /// Largest difference, relative to the wanted tensor's largest magnitude;
  /// infinite where one is finite and the other is not.
  double error = 0;
  /// Where it is, and the two values.
  std::vector<int64_t> at;
  double got = 0, want = 0;
};

Difference difference(const mlc_tensor &got, const HostTensor &want);

/// What may differ by default: 1e-4 for float32 (1e-2 where `isTF32`, products
/// are of factors rounded to tf32) and less precise ones as their precision
/// asks; 0 for integers and bool.
double defaultTolerance(mlc_dtype type, bool isTF32);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DIFFERENCE_H
