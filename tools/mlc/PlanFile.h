//===- PlanFile.h - Plans that other simulators made ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANFILE_H
#define MLC_TOOLS_MLC_PLANFILE_H

#include "tools/mlc/Simulate.h"

namespace mlc::cli {

/// Writes a plan with what `mlc simulate` says of it, and prints that unless
/// `isQuiet`. A plan of fewer than `ranks` says so.
llvm::Error writeSimulated(const SimulationRequest &request,
                           const std::string &output, int64_t ranks,
                           bool isQuiet);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANFILE_H
