//===- Difference.h - How far two tensors are apart -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DIFFERENCE_H
#define MLC_TOOLS_MLC_DIFFERENCE_H

#include "tools/mlc/Feed.h"

namespace mlc::cli {

struct Difference {
  /// Why they cannot be compared ("" if they can): types or dims.
  std::string mismatch;
  /// Largest difference, relative to the wanted tensor's largest magnitude;
  /// infinite if one value is finite and the other is not.
  double error = 0;
  /// Where it is, and the two values.
  std::vector<int64_t> at;
  double got = 0, want = 0;
};

Difference difference(const mlc_tensor &got, const HostTensor &want);

/// The default tolerance: 1e-4 for float32 (1e-2 if `isTF32`, with factors
/// rounded to tf32), more for less precise types; 0 for integers and bool.
double defaultTolerance(mlc_dtype type, bool isTF32);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DIFFERENCE_H
