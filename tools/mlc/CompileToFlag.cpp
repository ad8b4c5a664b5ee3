//===- CompileToFlag.cpp - Writes the result of a phase -------------------===//

#include "tools/mlc/CompileToFlag.h"
#include "passes/Phases.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

static std::string phaseNames() {
  std::string names;
  for (const mlc::Phase &phase : mlc::getPhases())
    names += (names.empty() ? "" : ", ") + phase.name.str();
  return names;
}

/// Static, since options keep a reference to the text.
static llvm::StringRef help() {
  static const std::string text =
      "Stop after this phase and write what it made as text: " + phaseNames();
  return text;
}

CompileToFlag::CompileToFlag(cl::SubCommand &sub)
    : name("compile-to", cl::value_desc("phase"), cl::desc(help()),
           cl::sub(sub)) {}

llvm::Error CompileToFlag::check(const MemoryBudget &budget) const {
  if (name.empty())
    return llvm::Error::success();
  if (!findPhase(name))
    return fail(Exit::Usage, "--compile-to=" + name +
                                 ": no such phase; there are " + phaseNames());
  if (budget.isGiven())
    return fail(Exit::Usage, "--memory-budget and --compile-to exclude each "
                             "other: memory is planned behind all phases");
  return llvm::Error::success();
}

llvm::StringRef CompileToFlag::upTo(llvm::StringRef phase) const {
  return isGiven() && findPhase(name) < findPhase(phase)
             ? llvm::StringRef(name.getValue())
             : phase;
}

llvm::Error CompileToFlag::write(Compilation &compilation,
                                 llvm::StringRef output) const {
  if (llvm::Error error = compilation.runTo(name))
    return error;
  return writeOutput(output.empty() ? "-" : output.str(),
                     [&](llvm::raw_ostream &os) {
                       compilation.getModule().print(os);
                       return llvm::Error::success();
                     });
}
