//===- LaunchCommand.cpp - mlc launch -------------------------------------===//
//
// Starts several processes of one program, as torchrun does on one machine.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Launch.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

namespace {

class LaunchCommand : public Command {
public:
  LaunchCommand()
      : Command("launch", "Start several processes of a program, with RANK, "
                          "WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT"),
        processes("n", cl::init(0), cl::value_desc("number"),
                  cl::desc("How many"), cl::sub(sub)),
        prefix("prefix",
               cl::desc("Begin each line of their output with [rank]"),
               cl::sub(sub)),
        grace(
            "grace", cl::init(5), cl::value_desc("seconds"),
            cl::desc("From SIGTERM to SIGKILL, for those that are to end when "
                     "one has failed (5)"),
            cl::sub(sub)),
        program(cl::Positional, cl::desc("<program>"), cl::sub(sub)),
        arguments(cl::ConsumeAfter, cl::desc("<arguments>..."), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  cl::opt<int> processes;
  cl::opt<bool> prefix;
  cl::opt<int> grace;
  cl::opt<std::string> program;
  cl::list<std::string> arguments;
};

} // namespace

llvm::Error LaunchCommand::run() {
  if (program.empty())
    return fail(Exit::Usage, "launch: no program; give one after the options");
  if (!processes.getNumOccurrences())
    return fail(Exit::Usage,
                "launch: how many processes? give -n N, up to 4096");
  if (processes < 1 || processes > 4096)
    return fail(Exit::Usage, "launch: -n=" + llvm::Twine(processes) +
                                 " processes; give 1 to 4096");
  if (grace < 0 || grace > 86400)
    return fail(Exit::Usage, "launch: --grace=" + llvm::Twine(grace) +
                                 " seconds; give 0 to 86400");
  mlc::runtime::transport::LaunchOptions options;
  options.processes = processes;
  options.prefix = prefix;
  options.graceSeconds = grace;
  options.command.push_back(program);
  options.command.insert(options.command.end(), arguments.begin(),
                         arguments.end());
  int code = 0;
  auto status = mlc::runtime::transport::launch(options, code);
  if (status.ok())
    return llvm::Error::success();
  // The exit code is the rank's, not one of ours.
  report(fail(static_cast<Exit>(status.code), status.message));
  return reported(code);
}

std::unique_ptr<Command> mlc::cli::makeLaunchCommand() {
  return std::make_unique<LaunchCommand>();
}
