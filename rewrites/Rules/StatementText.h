//===- StatementText.h - The statement of a rule as text --------*- C++ -*-===//

#ifndef MLC_REWRITES_RULES_STATEMENTTEXT_H
#define MLC_REWRITES_RULES_STATEMENTTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verifier/read/Condition.h"

namespace mlc {

/// Two functions in the file format of mlc-verify, mlc-check and mlc-rules, as
/// @NAME_before and @NAME_after; empty if an assumption has no text.
std::string statementText(llvm::StringRef name, mlir::func::FuncOp before,
                          mlir::func::FuncOp after,
                          const Assumptions &assumptions);

} // namespace mlc

#endif // MLC_REWRITES_RULES_STATEMENTTEXT_H
