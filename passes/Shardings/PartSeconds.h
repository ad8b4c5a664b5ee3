//===- PartSeconds.h - What a rank's part of an operator takes --*- C++ -*-===//

#ifndef MLC_PASSES_SHARDINGS_PARTSECONDS_H
#define MLC_PASSES_SHARDINGS_PARTSECONDS_H

#include "mlir/IR/Operation.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// What the rank's operators of a plan take on tensors that nobody makes;
/// nothing if they have no form.
std::optional<double>
secondsOfPart(mlir::Operation *op, const Plan &plan, AxisAttr axis,
              llvm::function_ref<double(mlir::Operation *)> seconds);

} // namespace mlc::dist

#endif // MLC_PASSES_SHARDINGS_PARTSECONDS_H
