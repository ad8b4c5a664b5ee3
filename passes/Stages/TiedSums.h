//===- TiedSums.h - Weights that several stages read ------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_TIEDSUMS_H
#define MLC_PASSES_STAGES_TIEDSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Stages/StageOf.h"

namespace mlc {

/// Where several stages add to the gradient of a weight, as with an embedding
/// that is also the last product's factor, each stage gets a sum of its own:
/// "gradient/NAME" is that of the first of them, the owner, and
/// "gradient/NAME@S" that of stage S, a result behind it. "apply" adds them up.
/// Sums that are split already stay as they are. `stages` is of "accumulate"
/// and is invalid afterwards.
void splitTiedSums(mlir::func::FuncOp accumulate, mlir::func::FuncOp apply,
                   const StageOf &stages);

} // namespace mlc

#endif // MLC_PASSES_STAGES_TIEDSUMS_H
