//===- ExplainParts.h - What to draw of a trail -----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EXPLAINPARTS_H
#define MLC_TOOLS_MLC_EXPLAINPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include "tools/mlc/DrawnPart.h"

namespace mlc::cli {

/// The rewritten parts of a function in the order of their first steps: both
/// graphs whole where they are small, else for each group of steps
/// that build on one another what they took away and made, with its
/// neighbours. Parts that look alike are one with a count. `after` is what
/// replaying `trail` on `before` gives; `rules` are those of its steps.
std::vector<DrawnPart> findParts(mlir::func::FuncOp before,
                                 mlir::func::FuncOp after, const Trail &trail,
                                 llvm::ArrayRef<Rule *> rules);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAINPARTS_H
