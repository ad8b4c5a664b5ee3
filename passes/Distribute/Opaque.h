//===- Opaque.h - Opaque operators on split tensors -------------*- C++ -*-===//
//
// An operator without a definition has nothing that could be restricted to
// parts. Its interface says along which dims it does the same to every slice,
// and whether its results follow from what ranks find in their parts.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_OPAQUE_H
#define MLC_PASSES_DISTRIBUTE_OPAQUE_H

#include "dialects/Definition/OpInterfaces.h"
#include "passes/Distribute/Plan.h"

namespace mlc::dist {

/// Brings a tensor to a place.
using Bring = llvm::function_ref<mlir::FailureOr<mlir::Value>(mlir::Value,
                                                              const Place &)>;

/// Adds the results of `op` to `parts`: of each rank's slices if a shared dim
/// is split, or chosen from the candidates that all ranks have found in their
/// parts. False if it moves no fewer bytes than having the operands whole, or
/// if the operator does not say how.
mlir::FailureOr<bool> emitOpaque(mlir::OpBuilder &builder, OpaqueOpInterface op,
                                 Parts &parts, const Hints &hints,
                                 AxisAttr axis, Bring bring);

} // namespace mlc::dist

#endif // MLC_PASSES_DISTRIBUTE_OPAQUE_H
