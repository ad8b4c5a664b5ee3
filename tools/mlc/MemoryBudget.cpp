//===- MemoryBudget.cpp - --memory-budget of commands ---------------------===//

#include "tools/mlc/MemoryBudget.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

llvm::Expected<uint64_t> mlc::cli::parseBytes(llvm::StringRef flag,
                                              llvm::StringRef text) {
  auto wrong = [&] {
    return fail(Exit::Usage,
                (flag + "=" + text +
                 ": expected a positive number of bytes, as 1500000, 1.5GB or "
                 "1.5GiB")
                    .str());
  };
  size_t digits = text.find_first_not_of("0123456789.");
  llvm::StringRef number = text.substr(0, digits);
  llvm::StringRef unit =
      digits == llvm::StringRef::npos ? "" : text.substr(digits);
  double factor = llvm::StringSwitch<double>(unit)
                      .Cases({"", "B"}, 1)
                      .Cases({"kB", "KB"}, 1e3)
                      .Case("MB", 1e6)
                      .Case("GB", 1e9)
                      .Case("TB", 1e12)
                      .Case("KiB", double(uint64_t(1) << 10))
                      .Case("MiB", double(uint64_t(1) << 20))
                      .Case("GiB", double(uint64_t(1) << 30))
                      .Case("TiB", double(uint64_t(1) << 40))
                      .Default(0);
  // An integer number of bytes stays exact.
  uint64_t whole;
  constexpr uint64_t most = uint64_t(1) << 62;
  if (factor == 1 && !number.getAsInteger(10, whole) && whole > 0 &&
      whole <= most)
    return whole;
  double value;
  if (number.empty() || number.getAsDouble(value) || factor == 0)
    return wrong();
  double bytes = std::floor(value * factor);
  if (!(bytes >= 1 && bytes <= double(most)))
    return wrong();
  return uint64_t(bytes);
}

MemoryBudget::MemoryBudget(cl::SubCommand &sub)
    : text("memory-budget", cl::value_desc("bytes"),
           cl::desc("Most memory that intermediate results may take, in bytes "
                    "or as 1.5GiB: kernels run again where that takes less "
                    "memory than keeping what they made "
                    "(docs/Rematerialization.md)"),
           cl::sub(sub)) {}

llvm::Expected<uint64_t> MemoryBudget::bytes() const {
  if (!isGiven())
    return 0;
  return parseBytes("--memory-budget", text);
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
