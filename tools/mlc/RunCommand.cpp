//===- RunCommand.cpp - mlc run -------------------------------------------===//

#include "runtime/RunCommand.h"
#include "runtime/Engines.h"
#include "runtime/transport/RunEngines.h"
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
        device(sub), engine(sub, "as the launcher says"),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Run on this many ranks, as threads of this process "
                       "(with --engine=inproc as many as the artifact needs)"),
              cl::sub(sub)),
        timeout("timeout", cl::init(300), cl::value_desc("seconds"),
                cl::desc("Seconds without progress after which a missing rank "
                         "is named and all ranks end (300)"),
                cl::sub(sub)),
        groups("groups", cl::init(1), cl::value_desc("number"),
               cl::desc("Groups of ranks, to which collectives are given in "
                        "turn, so that several are under way at once (1)"),
               cl::sub(sub)),
        ownParts("own-parts",
                 cl::desc("Each rank reads its part of inputs and writes its "
                          "part of outputs, %r in paths being the rank; else "
                          "each reads all, and rank 0 writes all"),
                 cl::sub(sub)),
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
  EngineOption engine;
  cl::opt<unsigned> ranks;
  cl::opt<double> timeout;
  cl::opt<unsigned> groups;
  cl::opt<bool> ownParts;
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
  if (!(timeout > 0 && timeout <= 1e6))
    return fail(Exit::Usage,
                "run: --timeout is a number of seconds, up to 1000000");
  options.engine = engine;
  if (ranks && engine.empty())
    options.engine = mlc::runtime::engines::ofThreads().name;
  options.ranks = ranks;
  options.timeout = timeout;
  options.groups = groups;
  options.ownParts = ownParts;
  mlc::runtime::transport::RunEngines engines;
  // It reports its errors itself.
  return reported(mlc::runtime::runCommand(options, &engines));
}

std::unique_ptr<Command> mlc::cli::makeRunCommand() {
  return std::make_unique<RunCommand>();
}
