//===- Replay.h - Does a trail prove what it claims? ------------*- C++ -*-===//
//
// The trusted side of a search: it takes a function and a trail, trusts
// neither, and gives the function that the trail proves equal, or the first
// step that is invalid.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_REWRITES_PROOFLOG_REPLAY_H
#define MLC_REWRITES_PROOFLOG_REPLAY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "rewrites/ProofLog/Trail.h"
#include "rewrites/Rules/Rule.h"

namespace mlc {

/// Returns the proved rule that a step names, or why there is none.
using RuleLookup =
    llvm::function_ref<llvm::Expected<Rule *>(const TrailStep &step)>;

/// Replays `trail` on `function`, as it stood before the search: one block of
/// operators. On success its body consists of the chosen operators, in the
/// trail's order. On failure the message is `step N (rule): what` or `the
/// result: what`, and the body may hold anything.
llvm::Error replayTrail(mlir::func::FuncOp function, const Trail &trail,
                        RuleLookup findRule);

} // namespace mlc

#endif // MLC_REWRITES_PROOFLOG_REPLAY_H
