//===- Hints.h - Wanted places of tensors -----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_HINTS_H
#define MLC_PASSES_DISTRIBUTE_HINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// Propagates the places of arguments and results (null: unspecified) backward:
/// an operand is wanted where the result is, or where a state is that it is
/// combined with.
Hints findHints(mlir::func::FuncOp function, llvm::ArrayRef<Place> arguments,
                llvm::ArrayRef<std::optional<Place>> results, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_HINTS_H
