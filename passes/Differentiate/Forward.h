//===- Forward.h - Forward derivatives of functions -------------*- C++ -*-===//
//
// Forward derivatives of a function, operator by operator, from their
// definitions (dialects/Derivative/Tangent.h). Gradients are checked against
// them, and people read and run them. They are not meant to be fast.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_FORWARD_H
#define MLC_PASSES_DIFFERENTIATE_FORWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// Adds the function NAME_jvp after `function`. It takes the arguments and then
/// the tangents of the float arguments, in order, and returns the tangents of
/// the float results, in order. Fails, with an error at the operator, if one
/// has no derivative.
mlir::FailureOr<mlir::func::FuncOp> addForward(mlir::func::FuncOp function);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_FORWARD_H
