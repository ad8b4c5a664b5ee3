//===- CausalMask.h - Masks that hide later positions -----------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_CAUSALMASK_H
#define MLC_PASSES_STAGES_CAUSALMASK_H

#include "mlir/IR/Operation.h"

namespace mlc {

/// What is known of the elements of scores by a position (row) of a later one
/// (column).
enum class Later : uint8_t {
  Unknown,
  Hidden, ///< so small that softmax gives 0, beside one that is not
  Zero,   ///< 0, whatever the later position has
  Mixed,  ///< the operator has them in other elements, or may
};

/// What is known of the result of `op`, which has each element of operand
/// `scores`, of which `later` is known, at its place, or is a softmax.
Later laterOf(mlir::Operation *op, unsigned scores, Later later, unsigned rows,
              unsigned columns);

} // namespace mlc

#endif // MLC_PASSES_STAGES_CAUSALMASK_H
