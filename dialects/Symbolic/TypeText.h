//===- TypeText.h - Types as users read them --------------------*- C++ -*-===//

#ifndef MLC_DIALECTS_SYMBOLIC_TYPETEXT_H
#define MLC_DIALECTS_SYMBOLIC_TYPETEXT_H

#include "dialects/Symbolic/IntExpr.h"
#include "mlir/IR/Types.h"
#include <string>

namespace mlc {

/// `2*w - 1`.
std::string dimText(IntExpr dim);

/// `f32[batch, 2*w - 1, 288]`, as `mlc inspect` prints types.
std::string typeText(mlir::Type element, llvm::ArrayRef<IntExpr> dims);

/// Rewrites the tensor types in a message from MLIR's form to this one.
std::string withPlainTypes(llvm::StringRef message);

} // namespace mlc

#endif // MLC_DIALECTS_SYMBOLIC_TYPETEXT_H
