//===- ConstantFold.h - Computes constant values ----------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H
#define MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H

#include "mlir/IR/Operation.h"

namespace mlc {

struct ConstantFoldOptions {
  /// The maximum size of a folded tensor relative to the constants that it is
  /// made from (a kernel padded from 1x1 to 3x3: 9 times), ...
  int64_t growth = 16;
  /// ... or this many bytes.
  int64_t smallBytes = 4096;
  /// The maximum size of the result and of each intermediate tensor, unless the
  /// model's constants are larger (`growth` times those). A splat counts as one
  /// element: a model of a hundred bytes can name 2^40 of them.
  int64_t workBytes = int64_t(64) << 20;
  /// Maximum scalar steps per operator; costlier ones stay in the program.
  int64_t maxSteps = int64_t(1) << 32;
};

/// Replaces values of `function` (one block) that depend on constants alone by
/// constants, computed by their definitions, and removes dead operators.
/// Replication (a broadcast) is kept: rules and fusion match it, and folding
/// only makes constants larger. Operators whose values are undefined or too
/// expensive stay. Integer tensors of symbolic integers fold symbolically.
/// `mlc-fold-constants` runs this on functions.
void foldConstants(mlir::Operation *function,
                   const ConstantFoldOptions &options = {});

/// The same until nothing changes, because how much is folded depends on the
/// constants that exist. Graphs are brought to this form before they are
/// compared.
void foldConstantsFully(mlir::Operation *function);

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H
