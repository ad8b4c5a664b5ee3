//===- CalibrateCommand.cpp - mlc calibrate -------------------------------===//

#include "codegen/target/TargetFile.h"
#include "tools/mlc/Calibration.h"
#include "tools/mlc/ClusterFiles.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/LearnCosts.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/Progress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

namespace {

class CalibrateCommand : public Command {
public:
  CalibrateCommand()
      : Command(
            "calibrate",
            "Measure this machine, or what a model's operators take on "
            "it, or learn that from measured ones; or a cluster's links, or "
            "its constants from measured iterations"),
        model(sub, "<model.onnx>"), inputs(sub),
        output("o", cl::value_desc("file.json"),
               cl::desc("The target description to write, for "
                        "--target=file.json (standard output), or the fitted "
                        "cluster, or what is learned"),
               cl::sub(sub)),
        asJson("json",
               cl::desc(
                   "Print one JSON object (of a model, of what is learned, or "
                   "of a cluster)"),
               cl::sub(sub)),
        runs("runs", cl::init(20), cl::value_desc("number"),
             cl::desc("Timed runs of the model (20)"), cl::sub(sub)),
        cluster("cluster", cl::value_desc("file.json"),
                cl::desc("Fit the constants of this cluster, or of "
                         "cluster:<name>, to --iterations; or, without them, "
                         "measure the links between the launcher's ranks, or "
                         "--ranks threads, with the cluster's device "
                         "(docs/Clusters.md)"),
                cl::sub(sub)),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Threads whose links are measured (as many as the "
                       "cluster has)"),
              cl::sub(sub)),
        iterations("iterations", cl::value_desc("file.csv"),
                   cl::desc("Measured iterations of GPTs, several times for "
                            "several files"),
                   cl::sub(sub)),
        learnFrom("learn", cl::CommaSeparated, cl::value_desc("file.json,..."),
                  cl::desc("Learn what operators take that were not measured "
                           "from these files of --timings, one for each "
                           "network, and write it with them all to -o, for "
                           "--timings"),
                  cl::sub(sub)),
        holdout("holdout", cl::init(0.8), cl::value_desc("share"),
                cl::desc("Share of the iterations, chosen by --seed, that the "
                         "fit does not see and that errors are of (0.8)"),
                cl::sub(sub)) {
    inputs.seed.setDescription("Seed of the random inputs, or of the "
                               "iterations that are fitted (0)");
  }

  llvm::Error run() override;

private:
  llvm::Error addTimings(const Target &target);
  llvm::Error calibrateCluster();
  llvm::Error learn(const Target &target);

  ModelOptions model;
  InputOptions inputs;
  cl::opt<std::string> output;
  cl::opt<bool> asJson;
  cl::opt<unsigned> runs;
  cl::opt<std::string> cluster;
  cl::opt<int> ranks;
  cl::list<std::string> iterations;
  cl::list<std::string> learnFrom;
  cl::opt<double> holdout;
};

} // namespace

llvm::Error CalibrateCommand::calibrateCluster() {
  if (cluster.empty())
    return fail(Exit::Usage, "--iterations are of a --cluster; give both");
  if (!model.model.empty() || !model.timings.empty())
    return fail(Exit::Usage, "--cluster is not for a model; give one of them");
  if (iterations.empty())
    return measureLinks(
        {cluster,
         ranks.getNumOccurrences() ? std::optional<int>(ranks) : std::nullopt,
         output});
  if (ranks.getNumOccurrences())
    return fail(Exit::Usage, "--ranks is for measuring links, and --iterations "
                             "fits constants; give one of them");
  return fitCluster(
      {cluster, iterations, holdout, inputs.seed, output, asJson});
}

llvm::Error CalibrateCommand::run() {
  if (!cluster.empty() || !iterations.empty())
    return calibrateCluster();
  if (!learnFrom.empty() && (!model.model.empty() || !model.timings.empty()))
    return fail(Exit::Usage, "--learn takes files of times, no model and no "
                             "--timings; give -o to write what is learned");
  if (runs == 0)
    return fail(Exit::Usage, "--runs 0: expected at least 1");
  if (model.model.empty() != model.timings.empty())
    return fail(Exit::Usage, "a model's operators go to --timings=FILE; give "
                             "both, or neither to measure the machine");
  if (!model.timings.empty() && !output.empty())
    return fail(Exit::Usage, "-o is for the machine, --timings for a model; "
                             "give one");
  auto target = parseTargetOption(model.target);
  if (!target)
    return target.takeError();
  if (!learnFrom.empty())
    return learn(*target);
  if (!findBackend(*target))
    return fail(Exit::Unsupported,
                "measuring " + target->name +
                    " is unsupported; calibrate a cpu target");
  if (!model.timings.empty())
    return addTimings(*target);
  llvm::Expected<Target> measured = [&] {
    Progress progress("measuring this machine");
    return calibrate(*target, progress);
  }();
  if (!measured)
    return measured.takeError();
  return writeOutput(output.empty() ? "-" : output.getValue(),
                     [&](llvm::raw_ostream &os) {
                       os << writeTarget(*measured);
                       return llvm::Error::success();
                     });
}

llvm::Error CalibrateCommand::learn(const Target &target) {
  const std::vector<std::string> files(learnFrom.begin(), learnFrom.end());
  if (!output.empty())
    if (llvm::Error error = refuseInputs({output}, files))
      return error;
  auto learning = learnCosts(files, target);
  if (!learning)
    return learning.takeError();
  if (output != "-")
    printLearning(*learning, asJson);
  if (output.empty())
    return llvm::Error::success();
  return writeOutput(output, [&](llvm::raw_ostream &os) {
    os << learning->cache.write();
    return llvm::Error::success();
  });
}

llvm::Error CalibrateCommand::addTimings(const Target &target) {
  // New measurements must not depend on earlier ones.
  const std::string file = model.timings;
  model.timings = "";
  TimingCache cache;
  cache.target = target.name;
  if (llvm::sys::fs::exists(file)) {
    auto found = readTimings(file, target);
    if (!found)
      return found.takeError();
    cache = std::move(*found);
  }
  auto times = timeModel(model, inputs, runs, cache);
  if (!times)
    return times.takeError();
  if (asJson)
    llvm::outs() << llvm::formatv(
        "{0:2}\n", llvm::json::Value(llvm::json::Object{
                       {"measured_seconds", times->measured},
                       {"predicted_seconds", times->predicted},
                       {"operators", int64_t(cache.timings.size())}}));
  else
    llvm::outs() << llvm::formatv("measured   {0:f3} ms on one thread\n"
                                  "predicted  {1:f3} ms ({2:f2} of that)\n"
                                  "{3} different operators in {4}\n",
                                  times->measured * 1e3, times->predicted * 1e3,
                                  times->predicted / times->measured,
                                  cache.timings.size(), file);
  return writeOutput(file, [&](llvm::raw_ostream &os) {
    os << cache.write();
    return llvm::Error::success();
  });
}

std::unique_ptr<Command> mlc::cli::makeCalibrateCommand() {
  return std::make_unique<CalibrateCommand>();
}
