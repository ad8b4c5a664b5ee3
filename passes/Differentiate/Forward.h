//===- Forward.h - Forward derivatives of functions -------------*- C++ -*-===//
//
// How a function's results move when its arguments do, operator by operator,
// from their definitions (dialects/Interfaces/Tangent.h): what gradients are
// judged by, for people to read and run. It is not meant to be fast.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DIFFERENTIATE_FORWARD_H
#define MLC_PASSES_DIFFERENTIATE_FORWARD_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlc {

/// The function NAME_jvp, behind `function`: of its arguments and then tangents
/// of its arguments of floats, in order, to the tangents of its results of
/// floats, in order. Fails, with an error at the operator, where one has no
/// derivative.
mlir::FailureOr<mlir::func::FuncOp> addForward(mlir::func::FuncOp function);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_FORWARD_H
