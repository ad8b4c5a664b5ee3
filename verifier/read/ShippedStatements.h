//===- ShippedStatements.h - What the shipped rules say ---------*- C++ -*-===//
//
// A proof is of what stands beside it. Whether that is what a rule of mlc says
// is told from a table that the build made of the rules that it proved.
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
  const char *rule;      // the rule's hash, as `mlc-rules list` has it
  const char *statement; // hashOfStatement
};

/// By name.
llvm::ArrayRef<ShippedStatement> shippedStatements();

/// Of two functions but for their names, with what is assumed and required.
std::string hashOfStatement(mlir::func::FuncOp before,
                            mlir::func::FuncOp after);

} // namespace mlc::verifier

#endif // MLC_VERIFIER_READ_SHIPPEDSTATEMENTS_H
