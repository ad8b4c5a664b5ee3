//===- Pin.h - Shardings of tensors inside a model --------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PIN_H
#define MLC_PASSES_DISTRIBUTE_PIN_H

#include "dialects/Dist/Pins.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Distribute/Place.h"
#include "runtime/plan/Plan.h"

namespace mlc {
namespace dist {

/// Where the operator's result is wanted along the axis; nothing if nothing is
/// said.
std::optional<Place> pinnedPlace(mlir::Operation *op, AxisAttr axis);

/// The name of the node that an operator was imported from; empty if none.
llvm::StringRef nodeOf(mlir::Operation *op);

} // namespace dist

/// Pins results inside the function @main of a model as it is imported: of each
/// node that a sharding calls by its whole name, the last operator. Names of
/// arguments and results are of these, not of nodes. The axis `leaves`, if not
/// empty, is left as it comes. An error if the tensor has fewer dims than are
/// split.
mlir::LogicalResult pinByName(mlir::func::FuncOp main,
                              llvm::ArrayRef<runtime::TensorSharding> shardings,
                              llvm::StringRef leaves);

/// `mlc-pin`, which runs pinByName.
std::unique_ptr<mlir::Pass>
createPinPass(llvm::ArrayRef<runtime::MeshAxis> mesh,
              llvm::ArrayRef<runtime::TensorSharding> shardings,
              llvm::StringRef leaves);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_PIN_H
