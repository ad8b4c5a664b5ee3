//===- ConstantFold.h - Computes what is constant ---------------*- C++ -*-===//

#ifndef MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H
#define MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H

#include "mlir/IR/Operation.h"

namespace mlc {

struct ConstantFoldOptions {
  /// A folded tensor may be this many times as large as the constants that it
  /// was made from (a kernel padded from 1x1 to 3x3: 9 times), ...
  int64_t growth = 16;
  /// ... or this many bytes.
  int64_t smallBytes = 4096;
  /// Neither the result nor anything computed on the way to it may be larger
  /// than this, unless the constants that the model holds are (`growth` times).
  /// One element that stands for all counts as one: a model of a hundred bytes
  /// can name 2^40 of them.
  int64_t workBytes = int64_t(64) << 20;
  /// Scalar steps for one operator; beyond, it stays in the program.
  int64_t maxSteps = int64_t(1) << 32;
};

/// Replaces values of `function` (one block) that depend on constants alone by
/// constants, computed by their definitions, and removes dead operators.
/// Replication (a broadcast) is kept: rules and fusion want to see it, and it
/// only makes constants larger. Operators whose values are undefined or too
/// expensive stay. Integer tensors of symbolic integers fold symbolically.
/// `mlc-fold-constants` does this to functions.
void foldConstants(mlir::Operation *function,
                   const ConstantFoldOptions &options = {});

/// The same until nothing changes: how much is folded depends on the constants
/// that are there. Graphs that are to be compared are both brought here.
void foldConstantsFully(mlir::Operation *function);

} // namespace mlc

#endif // MLC_PASSES_OPTIMIZE_CONSTANTFOLD_H
