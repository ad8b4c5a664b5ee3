//===- Main.cpp - The command line mlc ------------------------------------===//

#include "runtime/OutputFiles.h"
#include "runtime/mlc_runtime.h"
#include "tools/CommandLine.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/TemporaryFolder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <new>
#include <unistd.h>

using namespace mlc::cli;

static constexpr llvm::StringLiteral overview =
    "compiles trained models (ONNX) to native code through proved rewrites";

/// Ends the program without allocating; removes LLVM's temporary files first.
[[noreturn]] static void endNow(llvm::StringRef message, Exit code) {
  llvm::sys::RunInterruptHandlers();
  mlc::runtime::OutputFiles::abandon();
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(static_cast<int>(code));
}

static void interrupted() {
  mlc::runtime::OutputFiles::abandon();
  TemporaryFolder::removeAll();
  constexpr llvm::StringLiteral message = "mlc: error: interrupted\n";
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(static_cast<int>(Exit::Interrupted));
}

[[noreturn]] static void outOfMemory() {
  endNow("mlc: error: out of memory; use a machine with more, or smaller "
         "dims\n",
         Exit::Resources);
}

static void handleSignals() {
  // LLVM's handler has removed the temporary files when it calls this.
  llvm::sys::SetInterruptFunction(interrupted);
  // Exceeding the file size limit should fail `write`, like a full disk.
  ::signal(SIGXFSZ, SIG_IGN);
  // A crash is an internal error like any other; LLVM has printed the trace.
  llvm::sys::AddSignalHandler([](void *) { endNow("", Exit::Internal); },
                              nullptr);
  std::set_new_handler(outOfMemory);
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { outOfMemory(); });
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    llvm::errs() << "mlc: error: internal error: " << reason
                 << "; please report it with the model\n";
    endNow("", Exit::Internal);
  });
}

static void printVersion(llvm::raw_ostream &os) {
  os << "mlc " << mlc_version() << '\n';
}

static int runCommand(int argc, char **argv) {
  llvm::setBugReportMsg("mlc: error: internal error; please report it with "
                        "the model and this trace\n");
  handleSignals();
  llvm::cl::SetVersionPrinter(printVersion);

  std::unique_ptr<Command> commands[] = {
      makeBenchCommand(),     makeCalibrateCommand(),  makeCheckCommand(),
      makeCheckPlanCommand(), makeCollectiveCommand(), makeCompareCommand(),
      makeCompileCommand(),   makeGradientsCommand(),  makeInspectCommand(),
      makeLaunchCommand(),    makeOptimizeCommand(),   makePlanCommand(),
      makeRunCommand(),       makeScheduleCommand(),   makeSimulateCommand(),
      makeTrainCommand(),
  };
  // Hide options that libraries register.
  llvm::cl::OptionCategory none("mlc");
  llvm::cl::HideUnrelatedOptions(none);
  if (argc < 2)
    return report(fail(Exit::Usage, "no command; see --help"));
  if (std::string problem = mlc::parseCommandLine(argc, argv, overview);
      !problem.empty())
    return report(fail(Exit::Usage, problem));
  for (const std::unique_ptr<Command> &command : commands)
    if (command->sub) {
      // Unregister the options, since lld, which links our code, resets all of
      // them.
      command->sub.reset();
      return report(command->run());
    }
  return report(fail(Exit::Usage, "no command; see --help"));
}

int main(int argc, char **argv) {
  mlc::startTool();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  return mlc::finishTool(runCommand(argc, argv));
}
