//===- PlanReport.h - What mlc plan prints ----------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANREPORT_H
#define MLC_TOOLS_MLC_PLANREPORT_H

#include "tools/mlc/PlanPipelines.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// "12.3 MB".
std::string roundedBytes(int64_t bytes);
/// A row for each schedule on so many ranks, with the number of micro-batches
/// that is best.
void printPlans(const PipelinePlans &plans);
/// The best plan, and how far from the bound it is.
void printBest(const PipelinePlans &plans, const std::string &cluster);
llvm::json::Object toJson(const PlannedStep &step);
llvm::json::Object toJson(const PipelinePlans &plans,
                          const std::string &cluster);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANREPORT_H
