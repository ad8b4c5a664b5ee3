//===- Form.h - The forms of a module between passes ------------*- C++ -*-===//
//
// The forms that a model takes on its way to code. Every pass takes one form
// and checks it with requireForm first: it would drop any op that it does not
// know, or leave it for a later pass to drop.
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

/// Emits an error, which says `problem`, at the first op in `root` that does
/// not belong to `form`.
mlir::LogicalResult checkForm(mlir::Operation *root, Form form,
                              const llvm::Twine &problem);

/// For the start of a runOnOperation: checks that `pass` was given `form`;
/// otherwise emits an error that says what to run first.
mlir::LogicalResult requireForm(const mlir::Pass &pass, mlir::Operation *root,
                                Form form);

} // namespace mlc

#endif // MLC_PASSES_BASE_FORM_H
