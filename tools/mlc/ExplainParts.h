//===- ExplainParts.h - The parts of a trail to draw ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EXPLAINPARTS_H
#define MLC_TOOLS_MLC_EXPLAINPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"
#include "tools/mlc/DrawnPart.h"

namespace mlc::cli {

/// The rewritten parts of a function in the order of their first steps: both
/// whole graphs if they are small, else for each group of dependent steps the
/// removed and added nodes with their neighbours. Parts that look alike are
/// merged and counted. `after` is the result of replaying `trail` on `before`;
/// `rules` are those of its steps.
std::vector<DrawnPart> findParts(mlir::func::FuncOp before,
                                 mlir::func::FuncOp after, const Trail &trail,
                                 llvm::ArrayRef<Rule *> rules);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EXPLAINPARTS_H
