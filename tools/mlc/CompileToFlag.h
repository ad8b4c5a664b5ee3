//===- CompileToFlag.h - Writes the result of a phase -----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_COMPILETOFLAG_H
#define MLC_TOOLS_MLC_COMPILETOFLAG_H

#include "tools/mlc/Build.h"
#include "tools/mlc/MemoryBudget.h"

namespace mlc::cli {

/// `--compile-to`.
class CompileToFlag {
public:
  explicit CompileToFlag(llvm::cl::SubCommand &sub);

  bool isGiven() const { return !name.empty(); }
  /// Fails for an unknown phase, and for a memory budget, which is planned
  /// after all phases.
  llvm::Error check(const MemoryBudget &budget) const;
  llvm::StringRef phase() const { return name.getValue(); }
  bool is(llvm::StringRef phase) const { return name == phase; }

  /// The earlier one of `phase` and the given one.
  llvm::StringRef upTo(llvm::StringRef phase) const;

  /// Runs the phases and writes the result of the last one to a file, or to
  /// standard output if `output` is empty.
  llvm::Error write(Compilation &compilation, llvm::StringRef output) const;

private:
  llvm::cl::opt<std::string> name;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_COMPILETOFLAG_H
