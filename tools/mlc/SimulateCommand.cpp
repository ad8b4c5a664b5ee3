//===- SimulateCommand.cpp - mlc simulate ---------------------------------===//

#include "simulator/timeline/Pictures.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/PlanOriginFlags.h"
#include "tools/mlc/Simulate.h"
#include "tools/mlc/StepReplay.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>

using namespace mlc::cli;
using namespace mlc::simulator;
namespace cl = llvm::cl;

namespace {

class SimulateCommand : public Command {
public:
  SimulateCommand()
      : Command("simulate", "Predict what a step of a pipeline takes on a "
                            "cluster"),
        model(sub, "<model.onnx>"), training(sub), optimizer(sub),
        distribution(sub),
        batch("batch", cl::init(0), cl::value_desc("number"),
              cl::desc("Samples in a micro-batch, where the model leaves that "
                       "open"),
              cl::sub(sub)),
        cluster("cluster", cl::value_desc("file.json|cluster:name"),
                cl::desc("The machines and their links, as of mlc inspect (the "
                         "plan's, or cluster:this-machine)"),
                cl::sub(sub)),
        estimates("estimate",
                  cl::desc("Estimate the memory of intermediate results from "
                           "the model's operators, which is quick (by the "
                           "kernels that are made of them, without their "
                           "code)"),
                  cl::sub(sub)),
        compiles("compile",
                 cl::desc("Compile the entries, and plan their memory as a run "
                          "does"),
                 cl::sub(sub)),
        threads("threads", cl::init(1), cl::value_desc("number"),
                cl::desc("Threads of each rank, which have memory of their own "
                         "(1)"),
                cl::sub(sub)),
        svg("svg", cl::value_desc("file.svg"),
            cl::desc("Draw a lane for each rank into this file"), cl::sub(sub)),
        trace("trace", cl::value_desc("file.json"),
              cl::desc("Write trace events for Perfetto or Chrome to this "
                       "file"),
              cl::sub(sub)),
        page("report", cl::value_desc("file.html"),
             cl::desc("Write a page to this file that says what each stage and "
                      "rank holds, sends and waits for, and why"),
             cl::sub(sub)),
        planFile("save-plan", cl::value_desc("file.json"),
                 cl::desc("Write the plan to this file, with its model, its "
                          "cluster and the prediction"),
                 cl::sub(sub)),
        replays(
            "replay",
            cl::desc("Do the actions on ranks, over their links, with waits "
                     "in the place of kernels, and print what a step takes "
                     "beside the prediction"),
            cl::sub(sub)),
        replaySteps("replay-steps", cl::init(3), cl::value_desc("number"),
                    cl::desc("Steps that are replayed, after a first that is "
                             "not counted (3)"),
                    cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {
    model.parameters.setHiddenFlag(cl::Hidden);
    model.byShape = true;
  }

  llvm::Error run() override;

private:
  llvm::Error checkFlags() const;
  llvm::Error
  openRanks(mlc::runtime::transport::RunEngines &engines,
            std::vector<std::shared_ptr<mlc::runtime::Ranks>> &ranks) const;
  llvm::Expected<Simulation> simulateStep(int64_t ranks);

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizer;
  DistributionFlags distribution;
  cl::opt<int64_t> batch;
  cl::opt<std::string> cluster;
  cl::opt<bool> estimates, compiles;
  cl::opt<unsigned> threads;
  cl::opt<std::string> svg, trace, page, planFile;
  cl::opt<bool> replays;
  cl::opt<unsigned> replaySteps;
  cl::opt<bool> asJson;
};

} // namespace

/// The files that are asked for; `paths` are those of --svg, --trace, --report
/// and --save-plan.
static llvm::Error writePictures(const Simulation &result,
                                 llvm::ArrayRef<std::string> paths) {
  const std::string title = result.model + " on " + result.cluster.name;
  const std::function<std::string()> draws[] = {
      [&] { return drawSvg(result.table, result.timeline, {title, 0}); },
      [&] { return drawTrace(result.table, result.timeline); },
      [&] { return drawPage(result); }, [&] { return result.plan.text(); }};
  std::vector<Output> outputs;
  for (auto [path, draw] : llvm::zip(paths, draws))
    if (!path.empty())
      outputs.push_back({path, [&draw](llvm::raw_ostream &os) {
                           os << draw();
                           return llvm::Error::success();
                         }});
  return writeOutputs(outputs);
}

llvm::Error SimulateCommand::checkFlags() const {
  if (training.compileTo.isGiven())
    return fail(mlc::Exit::Usage, "--compile-to is of mlc train");
  if (svg == "-" || trace == "-" || page == "-" || planFile == "-")
    return fail(mlc::Exit::Usage, "--svg, --trace, --report and --save-plan "
                                  "write to files; name one");
  if (estimates && compiles)
    return fail(mlc::Exit::Usage,
                "--estimate and --compile exclude each other");
  if (replaySteps < 1)
    return fail(mlc::Exit::Usage, "--replay-steps must be at least 1");
  if (threads < 1)
    return fail(mlc::Exit::Usage, "--threads must be at least 1");
  if (llvm::Error error = refuseSame({{svg, "the picture (--svg)"},
                                      {trace, "the trace (--trace)"},
                                      {page, "the report (--report)"},
                                      {planFile, "the plan (--save-plan)"}}))
    return error;
  return refuseInputs({svg, trace, page, planFile}, {model.model, cluster});
}

/// The ranks that replay, of --ranks or of a launcher.
llvm::Error SimulateCommand::openRanks(
    mlc::runtime::transport::RunEngines &engines,
    std::vector<std::shared_ptr<mlc::runtime::Ranks>> &ranks) const {
  if (llvm::Error error = distribution.open(engines, /*device=*/"", ranks))
    return error;
  return ranks.empty() ? fail(mlc::Exit::Usage,
                              "--replay runs on ranks; give --ranks, or "
                              "start it by mlc launch, mpirun or "
                              "torchrun")
                       : llvm::Error::success();
}

/// Simulates the plan for `ranks` ranks; 0: as many as are given.
llvm::Expected<Simulation> SimulateCommand::simulateStep(int64_t ranks) {
  auto plan = ranks ? distribution.plan(ranks) : distribution.givenPlan();
  if (!plan)
    return plan.takeError();
  auto machines = chooseCluster(cluster, *plan);
  if (!machines)
    return machines.takeError();
  return simulate({model, training, optimizer, batch, *plan, *machines,
                   estimates  ? ArenaSource::Operators
                   : compiles ? ArenaSource::Code
                              : ArenaSource::Kernels,
                   threads});
}

/// Reports an error before ranks, which wait for this one, end.
static llvm::Error
stopped(llvm::Error error,
        llvm::ArrayRef<std::shared_ptr<mlc::runtime::Ranks>> ranks) {
  if (ranks.empty())
    return error;
  const int code = report(std::move(error));
  for (const std::shared_ptr<mlc::runtime::Ranks> &rank : ranks)
    rank->abort(code);
  return reported(code);
}

llvm::Error SimulateCommand::run() {
  if (distribution.prints())
    return distribution.printPlan();
  if (llvm::Error error = checkFlags())
    return error;
  // Compiling resets the process's options.
  const std::vector<std::string> paths{svg, trace, page, planFile};
  const bool isJson = asJson;
  const unsigned steps = replays ? replaySteps.getValue() : 0;
  mlc::runtime::transport::RunEngines engines;
  std::vector<std::shared_ptr<mlc::runtime::Ranks>> ranks;
  if (steps)
    if (llvm::Error error = openRanks(engines, ranks))
      return error;
  auto result = simulateStep(ranks.empty() ? 0 : ranks.front()->size());
  if (!result)
    return stopped(result.takeError(), ranks);
  if (steps && (result->copies > 1 || result->table.ranks.size() < 2))
    return stopped(fail(mlc::Exit::Usage,
                        "--replay is of pipelines whose ranks do not share a "
                        "batch or weights; give as many ranks as run stages"),
                   ranks);
  if (steps) {
    auto replayed = mlc::cli::replaySteps(*result, ranks, steps);
    if (!replayed)
      return replayed.takeError();
    result->replayed = std::move(*replayed);
    // One process tells.
    if (ranks.front()->rank() != 0)
      return llvm::Error::success();
  }
  if (llvm::Error error = writePictures(*result, paths))
    return error;
  if (llvm::Error error = checkCapacity(*result))
    return error;
  if (isJson)
    llvm::outs() << toJson(*result) << '\n';
  else
    llvm::outs() << describe(*result);
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeSimulateCommand() {
  return std::make_unique<SimulateCommand>();
}
