//===- TiedSums.h - Weights that several stages read ------------*- C++ -*-===//

#ifndef MLC_PASSES_STAGES_TIEDSUMS_H
#define MLC_PASSES_STAGES_TIEDSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Stages/StageOf.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

/// Where several stages add to the gradient of a weight, as with an embedding
/// that is also the last product's factor, each stage gets a sum of its own:
/// "gradient/NAME" is that of the first of them, the owner, and
/// "gradient/NAME@S" that of stage S. "apply" adds them up. Returns the stages
/// of the added states, by name. `stages` is of "accumulate" and is invalid
/// afterwards.
llvm::StringMap<int64_t> splitTiedSums(mlir::func::FuncOp accumulate,
                                       mlir::func::FuncOp apply,
                                       const StageOf &stages);

} // namespace mlc

#endif // MLC_PASSES_STAGES_TIEDSUMS_H
