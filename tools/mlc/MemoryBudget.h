//===- MemoryBudget.h - --memory-budget of commands -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MEMORYBUDGET_H
#define MLC_TOOLS_MLC_MEMORYBUDGET_H

#include "passes/Memory/Rematerialize.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// `--memory-budget=BYTES`.
class MemoryBudget {
public:
  explicit MemoryBudget(llvm::cl::SubCommand &sub);

  bool isGiven() const { return text.getNumOccurrences(); }
  const llvm::cl::Option &option() const { return text; }
  /// The bytes; 0 if no budget is given. Fails for a text that parseBytes
  /// refuses.
  llvm::Expected<uint64_t> bytes() const;

private:
  llvm::cl::opt<std::string> text;
};

/// A line with the result of a budget.
std::string describe(const MemoryReport &report, uint64_t budget);
llvm::json::Object toJson(const MemoryReport &report, uint64_t budget);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MEMORYBUDGET_H
