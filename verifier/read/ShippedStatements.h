//===- ShippedStatements.h - Statements of the shipped rules ----*- C++ -*-===//
//
// A proof is about the statement next to it. A table made by the build from the
// rules that it proved tells whether that is the statement of a rule of mlc.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_READ_SHIPPEDSTATEMENTS_H
#define MLC_VERIFIER_READ_SHIPPEDSTATEMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlc::verifier {

struct ShippedStatement {
  const char *name;
  const char *rule;      // the rule's hash, as `mlc-rules list` prints it
  const char *statement; // hashOfStatement
};

/// Sorted by name.
llvm::ArrayRef<ShippedStatement> shippedStatements();

/// The hash of two functions, without their names but with their assumptions
/// and requirements.
std::string hashOfStatement(mlir::func::FuncOp before,
                            mlir::func::FuncOp after);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_SHIPPEDSTATEMENTS_H
