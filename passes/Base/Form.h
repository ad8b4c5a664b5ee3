//===- Form.h - What a module is made of between passes ---------*- C++ -*-===//
//
// The forms that a model takes on its way to code. Every pass takes one and
// says so with requireForm before it does anything: what it does not know it
// would drop, or leave behind for a pass that drops it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_BASE_FORM_H
#define MLC_PASSES_BASE_FORM_H

#include "mlir/Pass/Pass.h"

namespace mlc {

enum class Form {
  Graph,   ///< operators of the mlc dialect in functions
  Lowered, ///< linalg on tensors, and opaque operators
  Kernels, ///< kernels, and the exec program that runs them
};

/// Emits an error, which says `problem`, at the first op in `root` that is not
/// of `form`.
mlir::LogicalResult checkForm(mlir::Operation *root, Form form,
                              const llvm::Twine &problem);

/// For the start of a runOnOperation: what `pass` was given is of `form`, or
/// an error says what to run first.
mlir::LogicalResult requireForm(const mlir::Pass &pass, mlir::Operation *root,
                                Form form);

} // namespace mlc

#endif // MLC_PASSES_BASE_FORM_H
