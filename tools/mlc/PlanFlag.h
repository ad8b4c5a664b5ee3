//===- PlanFlag.h - --plan and --print-plan ---------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANFLAG_H
#define MLC_TOOLS_MLC_PLANFLAG_H

#include "runtime/plan/Plan.h"
#include "tools/mlc/MemoryBudget.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// `--plan`, `--print-plan` and the flag that all plans have, `--memory-budget`
/// (docs/Plan.md).
class PlanFlag {
public:
  /// For a command that compiles for ranks or, with `trains`, trains on them.
  PlanFlag(llvm::cl::SubCommand &sub, bool trains);

  bool isGiven() const { return file.getNumOccurrences(); }
  const std::string &getFile() const { return file; }
  bool prints() const { return printsIt; }
  const MemoryBudget &getBudget() const { return budget; }

  /// The plan of the file. Fails if the file cannot be read or is not a plan,
  /// and if a budget or one of `others`, which a plan replaces, is also given.
  llvm::Expected<runtime::Plan>
  read(llvm::ArrayRef<const llvm::cl::Option *> others) const;

private:
  llvm::cl::opt<std::string> file;
  llvm::cl::opt<bool> printsIt;
  MemoryBudget budget;
  const bool trains;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANFLAG_H
