//===- Hints.h - What is wanted of tensors ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_HINTS_H
#define MLC_PASSES_DISTRIBUTE_HINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// From where arguments and results are (null: as it comes out), backward: an
/// operand is wanted as the result is, or as a state that it is joined with.
Hints findHints(mlir::func::FuncOp function, llvm::ArrayRef<Place> arguments,
                llvm::ArrayRef<std::optional<Place>> results, AxisAttr axis);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_HINTS_H
