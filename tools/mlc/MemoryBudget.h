//===- MemoryBudget.h - --memory-budget of commands -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MEMORYBUDGET_H
#define MLC_TOOLS_MLC_MEMORYBUDGET_H

#include "passes/Memory/Rematerialize.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// Parses bytes: `N`, or a number with one of B, kB, MB, GB, TB (powers of
/// 1000), KiB, MiB, GiB, TiB (powers of 1024). Fails with code 2, also if the
/// number is not positive.
llvm::Expected<uint64_t> parseBytes(llvm::StringRef flag, llvm::StringRef text);

/// `--memory-budget=BYTES`.
class MemoryBudget {
public:
  explicit MemoryBudget(llvm::cl::SubCommand &sub);

  bool isGiven() const { return text.getNumOccurrences(); }
  /// 0: none was given.
  llvm::Expected<uint64_t> bytes() const;

private:
  llvm::cl::opt<std::string> text;
};

/// A line with the result of a budget.
std::string describe(const MemoryReport &report, uint64_t budget);
llvm::json::Object toJson(const MemoryReport &report, uint64_t budget);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MEMORYBUDGET_H
