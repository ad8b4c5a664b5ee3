//===- Windows.h - Attributes that convolutions and pools share -*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_WINDOWS_H
#define MLC_PASSES_IMPORT_WINDOWS_H

#include "passes/Import/Node.h"

namespace mlc {

/// Strides, dilations and padding of a window over the spatial dims 2, 3, ...
/// of input 0.
struct WindowAttributes {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  Dims pads; // all begins, then all ends
  /// Set if auto_pad is SAME_*: pads follow from the output size.
  bool same = false, sameUpper = false;

  unsigned rank() const { return kernel.size(); }
  /// Positions that the window spans along spatial dim `d`.
  int64_t span(unsigned d) const { return (kernel[d] - 1) * dilations[d] + 1; }
};

/// Reads and checks the attributes; nothing, with the error recorded, if they
/// do not fit. `kernel` is the weight's, if the node has one.
std::optional<WindowAttributes>
readWindow(Node &n, std::optional<llvm::SmallVector<int64_t>> kernel);

/// Pads of auto_pad SAME: as many outputs as strides fit into the input.
void padSame(Node &n, WindowAttributes &window);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_WINDOWS_H
