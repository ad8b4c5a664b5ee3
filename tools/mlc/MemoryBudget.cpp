//===- MemoryBudget.cpp - --memory-budget of commands ---------------------===//

#include "tools/mlc/MemoryBudget.h"
#include "runtime/plan/Bytes.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

MemoryBudget::MemoryBudget(cl::SubCommand &sub)
    : text("memory-budget", cl::value_desc("bytes"),
           cl::desc("Most memory that intermediate results may take, in bytes "
                    "or as 1.5GiB: kernels run again where that takes less "
                    "memory than keeping what they made "
                    "(docs/Rematerialization.md)"),
           cl::sub(sub)) {}

llvm::Expected<uint64_t> MemoryBudget::bytes() const {
  uint64_t bytes = 0;
  if (isGiven() && !runtime::parseBytes(text.getValue(), bytes))
    return fail(Exit::Usage,
                "--memory-budget=" + text +
                    ": expected a positive number of bytes, as 1500000, 1.5GB "
                    "or 1.5GiB");
  return bytes;
}

std::string mlc::cli::describe(const MemoryReport &report, uint64_t budget) {
  double share =
      report.seconds > 0 ? 100 * report.extraSeconds / report.seconds : 0;
  return llvm::formatv("memory: {0} bytes planned, budget {1}, {2} without it; "
                       "{3} launches run again, {4:F1} % more time predicted",
                       report.arenaBytes, budget, report.arenaBefore,
                       report.repeatedSteps, share);
}

llvm::json::Object mlc::cli::toJson(const MemoryReport &report,
                                    uint64_t budget) {
  return llvm::json::Object{{"budget_bytes", budget},
                            {"planned_bytes", report.arenaBytes},
                            {"without_budget_bytes", report.arenaBefore},
                            {"bound_bytes", report.boundBytes},
                            {"repeated_steps", report.repeatedSteps},
                            {"predicted_seconds", report.seconds},
                            {"predicted_extra_seconds", report.extraSeconds}};
}
