//===- RunCommand.cpp - mlc run -------------------------------------------===//

#include "runtime/RunCommand.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/ModelOptions.h"

using namespace mlc::cli;
namespace cl = llvm::cl;

namespace {

class RunCommand : public Command {
public:
  RunCommand()
      : Command("run", "Run an artifact on arrays from files"),
        file(cl::Positional, cl::desc("<model.mlca>"), cl::sub(sub)),
        inputs("input", cl::value_desc("name=x.npy"),
               cl::desc("An input's array; also name=x.npz, or x.npz with all "
                        "by name"),
               cl::sub(sub)),
        outputDir("output-dir", cl::value_desc("folder"),
                  cl::desc("Write each output there as <index>.npy, and their "
                           "names to outputs.json"),
                  cl::sub(sub)),
        outputNpz("output-npz", cl::value_desc("file"),
                  cl::desc("Write all outputs by name to this .npz"),
                  cl::sub(sub)),
        device(sub),
        threads("threads", cl::init(0), cl::value_desc("number"),
                cl::desc("Threads that run it (all cores)"), cl::sub(sub)),
        profile("profile", cl::desc("Print the time of every step"),
                cl::sub(sub)),
        flushDenormals("flush-denormals",
                       cl::desc("Take denormal numbers as zero"),
                       cl::sub(sub)) {}

  llvm::Error run() override;

private:
  cl::opt<std::string> file;
  cl::list<std::string> inputs;
  cl::opt<std::string> outputDir, outputNpz;
  DeviceOption device;
  cl::opt<unsigned> threads;
  cl::opt<bool> profile, flushDenormals;
};

} // namespace

llvm::Error RunCommand::run() {
  if (file.empty())
    return fail(Exit::Usage, "run: no file; give an artifact (.mlca)");
  mlc::runtime::RunOptions options;
  options.artifact = file;
  options.inputs.assign(inputs.begin(), inputs.end());
  options.outputDir = outputDir;
  options.outputNpz = outputNpz;
  options.device = device.device;
  options.threads = threads;
  options.profile = profile;
  options.flushDenormals = flushDenormals;
  // It has told of its errors itself.
  return reported(mlc::runtime::runCommand(options));
}

std::unique_ptr<Command> mlc::cli::makeRunCommand() {
  return std::make_unique<RunCommand>();
}
