//===- PlanOriginFlags.h - What a plan is for, beside flags -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANORIGINFLAGS_H
#define MLC_TOOLS_MLC_PLANORIGINFLAGS_H

#include "runtime/plan/Plan.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// The cluster that --cluster gives (empty: none), or the plan's, or this
/// machine. An error if both are given and differ.
llvm::Expected<std::string> chooseCluster(const std::string &given,
                                          const runtime::Plan &plan);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANORIGINFLAGS_H
