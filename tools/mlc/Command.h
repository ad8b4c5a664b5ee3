//===- Command.h - A subcommand of mlc --------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_COMMAND_H
#define MLC_TOOLS_MLC_COMMAND_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlc::cli {

/// A subcommand: its options are members registered with `sub`, so that
/// nothing is global; `run` is called after they are parsed.
class Command {
public:
  /// `name` and `description` live as long as the program.
  Command(llvm::StringRef name, llvm::StringRef description)
      : sub(name, description) {}
  virtual ~Command() = default;

  virtual llvm::Error run() = 0;

  llvm::cl::SubCommand sub;
};

std::unique_ptr<Command> makeCompileCommand();
std::unique_ptr<Command> makeRunCommand();
std::unique_ptr<Command> makeBenchCommand();
std::unique_ptr<Command> makeCalibrateCommand();
std::unique_ptr<Command> makeCheckCommand();
std::unique_ptr<Command> makeCheckPlanCommand();
std::unique_ptr<Command> makeCollectiveCommand();
std::unique_ptr<Command> makeCompareCommand();
std::unique_ptr<Command> makeGradientsCommand();
std::unique_ptr<Command> makeOptimizeCommand();
std::unique_ptr<Command> makeInspectCommand();
std::unique_ptr<Command> makeLaunchCommand();
std::unique_ptr<Command> makePlanCommand();
std::unique_ptr<Command> makeScheduleCommand();
std::unique_ptr<Command> makeSimulateCommand();
std::unique_ptr<Command> makeTrainCommand();

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_COMMAND_H
