//===- PlanCommand.cpp - mlc plan -----------------------------------------===//

#include "runtime/schedule/Generate.h"
#include "simulator/timeline/Pictures.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/PlanBayes.h"
#include "tools/mlc/PlanLayers.h"
#include "tools/mlc/PlanOperators.h"
#include "tools/mlc/PlanPipelines.h"
#include "tools/mlc/PlanPlacement.h"
#include "tools/mlc/PlanReport.h"
#include "tools/mlc/PlanShardings.h"
#include "tools/mlc/PlanStrategies.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::simulator;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

enum class Planner : uint8_t {
  All,
  Pipelines,
  Shardings,
  Soap,
  Mcmc,
  Bayes,
  List,
  MinCut,
  Reinforce
};

cl::ValuesClass plannerValues() {
  return cl::values(clEnumValN(Planner::All, "all",
                               "pipelines, shardings and written "
                               "strategies; the fastest that fits "
                               "is the plan"),
                    clEnumValN(Planner::Pipelines, "pipelines",
                               "copies, stages, a schedule, "
                               "micro-batches, weights whole or split, "
                               "what is computed again"),
                    clEnumValN(Planner::Shardings, "shardings",
                               "a mesh, and how weights and tensors "
                               "are split over it"),
                    clEnumValN(Planner::Soap, "soap",
                               "for each operator, how it is divided "
                               "and on which ranks"),
                    clEnumValN(Planner::Mcmc, "mcmc",
                               "the same, by a random walk of --budget "
                               "proposals"),
                    clEnumValN(Planner::Bayes, "bayes",
                               "buckets, algorithm, micro-batches and "
                               "ZeRO of data parallelism, and with "
                               "--schedules of pipelines, by Bayesian "
                               "optimization"),
                    clEnumValN(Planner::List, "list",
                               "for each operator a rank, by list "
                               "scheduling and moves"),
                    clEnumValN(Planner::MinCut, "min-cut",
                               "the same, with few bytes between ranks"),
                    clEnumValN(Planner::Reinforce, "reinforce",
                               "the same, by a network that learns to "
                               "draw placements"));
}

class PlanCommand : public Command {
public:
  PlanCommand()
      : Command("plan", "Choose how ranks share a step of training "
                        "(docs/Planners.md)"),
        model(sub, "<model.onnx|layers.csv>"), training(sub), optimizer(sub),
        shardings(sub, model, training, optimizer), strategies(sub),
        planner("planner", cl::desc("What is planned for a model (all):"),
                plannerValues(), cl::init(Planner::All), cl::sub(sub)),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Ranks to plan for (all of the cluster)"), cl::sub(sub)),
        cluster("cluster", cl::init("cluster:this-machine"),
                cl::value_desc("file.json|cluster:name"),
                cl::desc("The machines and their links, as of mlc inspect "
                         "(cluster:this-machine)"),
                cl::sub(sub)),
        samples("samples", cl::init(0), cl::value_desc("number"),
                cl::desc("Samples of a step (the model's batch)"),
                cl::sub(sub)),
        microBatches("micro-batches", cl::CommaSeparated,
                     cl::value_desc("number,..."),
                     cl::desc("Numbers of micro-batches to try (some that "
                              "divide the samples, up to 256 at least)"),
                     cl::sub(sub)),
        schedules("schedules", cl::CommaSeparated, cl::value_desc("name,..."),
                  cl::desc("Schedules to try, of mlc schedule --list (all "
                           "synchronous ones)"),
                  cl::sub(sub)),
        budget("budget", cl::init(200), cl::value_desc("number"),
               cl::desc("Steps to simulate for each schedule, number of copies "
                        "and number of micro-batches (200); with "
                        "--planner=soap and mcmc, in all (300000 and 200000), "
                        "and bayes (25), and placements of list (20000) "
                        "and reinforce (3000)"),
               cl::sub(sub)),
        blocks("blocks", cl::init(64), cl::value_desc("number"),
               cl::desc("Blocks that stages are made of, at most (64); groups "
                        "that operators are placed in (20 for each rank, up to "
                        "256)"),
               cl::sub(sub)),
        parts("tensor", cl::CommaSeparated, cl::value_desc("number,..."),
              cl::desc("Of pipelines: numbers of ranks to split weights over "
                       "(powers of two up to the ranks of a node)"),
              cl::sub(sub)),
        recomputing(
            "recompute",
            cl::desc("Whether backward passes of pipelines compute their "
                     "forward passes again (auto):"),
            cl::values(clEnumValN(Recomputing::WhereNeeded, "auto",
                                  "where that is faster than what else fits"),
                       clEnumValN(Recomputing::Never, "never", "no"),
                       clEnumValN(Recomputing::Always, "always",
                                  "yes, from the results between blocks")),
            cl::init(Recomputing::WhereNeeded), cl::sub(sub)),
        seed("seed", cl::init(0), cl::value_desc("number"),
             cl::desc("With --planner=mcmc, bayes, min-cut and reinforce: what "
                      "random numbers begin with (0)"),
             cl::sub(sub)),
        output("o", cl::value_desc("plan.json"),
               cl::desc("Write the plan to this file, for mlc train --plan"),
               cl::sub(sub)),
        compares("compare",
                 cl::desc("Print what was planned for each schedule and "
                          "number of copies, the best first; with "
                          "--planner=soap and mcmc, other ways beside it"),
                 cl::sub(sub)),
        edges("edges", cl::value_desc("file.csv"),
              cl::desc("Of layers: which read which, lines of from,to; needed"),
              cl::sub(sub)),
        bandwidth("bandwidth", cl::init(0), cl::value_desc("bytes/s"),
                  cl::desc("Of layers: instead of --cluster, any two ranks are "
                           "connected by links of so many bytes a second"),
                  cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {
    model.parameters.setHiddenFlag(cl::Hidden);
    model.byShape = true;
  }

  llvm::Error run() override;

private:
  llvm::Error checkFlags(bool ofLayers) const;
  llvm::Error checkValues() const;
  PipelineRequest makeRequest(const Cluster &machines, int64_t count);
  llvm::Error planAll(const Cluster &machines, int64_t count,
                      const ShardingPlanner::Request &split);
  llvm::Error planModel();
  std::optional<PlacementPlanner> placementPlanner() const;

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizer;
  ShardingPlanner shardings;
  StrategyPlanner strategies;
  cl::opt<Planner> planner;
  cl::opt<int64_t> ranks;
  cl::opt<std::string> cluster;
  cl::opt<int64_t> samples;
  cl::list<int64_t> microBatches;
  cl::list<std::string> schedules;
  cl::opt<int64_t> budget, blocks;
  cl::list<int64_t> parts;
  cl::opt<Recomputing> recomputing;
  cl::opt<uint64_t> seed;
  cl::opt<std::string> output;
  cl::opt<bool> compares;
  cl::opt<std::string> edges;
  cl::opt<double> bandwidth;
  cl::opt<bool> asJson;
};

} // namespace

static llvm::Error refuse(llvm::ArrayRef<const cl::Option *> options,
                          llvm::StringRef what) {
  for (const cl::Option *option : options)
    if (option->getNumOccurrences())
      return fail(mlc::Exit::Usage, "--" + option->ArgStr + " is of " + what);
  return llvm::Error::success();
}

static llvm::Error checkRange(const cl::opt<int64_t> &option, int64_t least,
                              int64_t most) {
  if (option.getNumOccurrences() == 0 || (option >= least && option <= most))
    return llvm::Error::success();
  return fail(mlc::Exit::Usage,
              fmt::format("--{} must be {} to {}, not {}", option.ArgStr.str(),
                          least, most, option.getValue()));
}

llvm::Error PlanCommand::checkFlags(bool ofLayers) const {
  const cl::Option *ofPipelines[] = {std::addressof(microBatches),
                                     std::addressof(schedules),
                                     std::addressof(parts),
                                     &recomputing,
                                     &budget,
                                     &blocks,
                                     &compares},
                   *ofModels[] = {&samples, &output, &planner};
  constexpr const char *noModel = "models; the file has layers (.csv)";
  llvm::Error error = llvm::Error::success();
  auto check = [&](llvm::ArrayRef<const cl::Option *> options,
                   llvm::StringRef what) {
    if (!error)
      error = refuse(options, what);
  };
  if (ofLayers) {
    check(ofModels, noModel);
    check(ofPipelines, noModel);
    check({&seed}, noModel);
    check(shardings.options(), noModel);
    check(strategies.options(), noModel);
  } else {
    check({&edges, &bandwidth}, "layers (.csv)");
    if (planner != Planner::All)
      check(strategies.options(), "--planner=all");
    if (!error)
      error = strategies.check();
    if (planner == Planner::Shardings)
      check(ofPipelines, "pipelines; --planner=shardings plans none");
    else if (!strategies.isGiven())
      check(shardings.options(), "--planner=shardings; give that, too");
    if (planner == Planner::Soap || planner == Planner::Mcmc)
      check({std::addressof(microBatches), std::addressof(schedules), &blocks},
            "pipelines; --planner=soap and mcmc plan none");
    if (planner == Planner::Bayes)
      check({&blocks}, "the other planners");
    if (placementPlanner())
      check({std::addressof(microBatches), std::addressof(schedules)},
            "pipelines; --planner=list, min-cut and reinforce plan none");
    if (planner != Planner::Mcmc && planner != Planner::Bayes &&
        planner != Planner::MinCut && planner != Planner::Reinforce)
      check({&seed}, "--planner=mcmc, bayes, min-cut and reinforce; give one "
                     "of them, too");
  }
  return error ? std::move(error) : checkValues();
}

llvm::Error PlanCommand::checkValues() const {
  if (cluster.getNumOccurrences() && bandwidth.getNumOccurrences())
    return fail(mlc::Exit::Usage, "give --cluster or --bandwidth, not both");
  constexpr int64_t most = 1 << 20;
  for (auto [option, limit] : {std::pair(&ranks, int64_t(4096)),
                               {&samples, int64_t(1) << 40},
                               {&budget, most},
                               {&blocks, int64_t(1024)}})
    if (llvm::Error error = checkRange(*option, 1, limit))
      return error;
  for (int64_t count : microBatches)
    if (count < 1 || count > most)
      return fail(
          mlc::Exit::Usage,
          fmt::format("--micro-batches must be 1 to {}, not {}", most, count));
  for (int64_t count : parts)
    if (count < 1 || count > 4096)
      return fail(mlc::Exit::Usage,
                  fmt::format("--tensor must be 1 to 4096, not {}", count));
  for (const std::string &name : schedules)
    if (!mlc::runtime::schedule::findSchedule(name))
      return fail(mlc::Exit::Usage,
                  "--schedules: there is no schedule '" + name +
                      "'; there are " +
                      mlc::runtime::schedule::scheduleNames());
  if (training.compileTo.isGiven())
    return fail(mlc::Exit::Usage, "--compile-to is of mlc train");
  if (output == "-")
    return fail(mlc::Exit::Usage, "-o writes to a file; name one");
  return refuseInputs({output}, {model.model, cluster});
}

/// The planner if it places operators.
std::optional<PlacementPlanner> PlanCommand::placementPlanner() const {
  switch (planner) {
  case Planner::List:
    return PlacementPlanner::List;
  case Planner::MinCut:
    return PlacementPlanner::MinCut;
  case Planner::Reinforce:
    return PlacementPlanner::Reinforce;
  default:
    return std::nullopt;
  }
}

/// Writes the best plan, if it fits.
static llvm::Error finish(const PlannedStep &best, const std::string &file) {
  if (!best.fits)
    return fail(mlc::Exit::Resources,
                fmt::format("no plan fits; the one that comes nearest takes {} "
                            "on a rank; take more ranks, or fewer samples",
                            roundedBytes(best.memory)));
  if (file.empty())
    return llvm::Error::success();
  return writeOutputs({{file, [&](llvm::raw_ostream &os) {
                          os << best.plan.text();
                          return llvm::Error::success();
                        }}});
}

llvm::Error PlanCommand::run() {
  if (strategies.wantsTable()) {
    StrategyPlanner::printTable();
    return llvm::Error::success();
  }
  if (model.model.empty())
    return fail(mlc::Exit::Usage,
                "no file; give a model (.onnx) or measured layers (.csv)");
  const bool ofLayers = llvm::StringRef(model.model).ends_with(".csv");
  if (llvm::Error error = checkFlags(ofLayers))
    return error;
  if (!ofLayers)
    return planModel();
  LayerRequest request{model.model, edges, cluster, ranks};
  if (bandwidth.getNumOccurrences())
    request.bandwidth = bandwidth;
  request.asJson = asJson;
  return planLayers(request);
}

std::unique_ptr<Command> mlc::cli::makePlanCommand() {
  return std::make_unique<PlanCommand>();
}

PipelineRequest PlanCommand::makeRequest(const Cluster &machines,
                                         int64_t count) {
  PipelineRequest request{model, training, optimizer, samples};
  request.microBatches.assign(microBatches.begin(), microBatches.end());
  request.schedules.assign(schedules.begin(), schedules.end());
  request.cluster = cluster;
  request.ranks = count;
  request.budget = budget;
  request.blocks = blocks;
  request.parts.assign(parts.begin(), parts.end());
  request.recomputing = recomputing;
  request.findShardings = [this, &machines, count](int64_t sizes,
                                                   int64_t batch) {
    return shardings.split(machines, sizes, batch, count / sizes);
  };
  return request;
}

/// Plans in all ways, or in those of one kind, and takes the fastest that fits.
llvm::Error PlanCommand::planAll(const Cluster &machines, int64_t count,
                                 const ShardingPlanner::Request &split) {
  std::vector<mlc::runtime::Plan> splits;
  if (planner == Planner::All && !strategies.isGiven()) {
    // Where no sharding fits, pipelines may.
    if (auto plans = shardings.plan(machines, split))
      splits = std::move(*plans);
    else
      llvm::consumeError(plans.takeError());
  }
  const PipelineRequest request = makeRequest(machines, count);
  auto plans =
      strategies.isGiven() ? PipelinePlans() : planPipelines(request, machines);
  if (!plans)
    return plans.takeError();
  if (llvm::Error error = addPlans(request, std::move(splits), *plans))
    return error;
  if (planner == Planner::All)
    if (llvm::Error error =
            strategies.add(request, machines, shardings, *plans))
      return error;
  if (asJson) {
    llvm::outs() << json::Value(toJson(*plans, machines.name)) << '\n';
  } else {
    if (compares)
      printPlans(*plans);
    printBest(*plans, machines.name);
  }
  return finish(plans->steps.front(), output);
}

llvm::Error PlanCommand::planModel() {
  const std::string file = output;
  const bool isJson = asJson, comparesAll = compares;
  mlc::runtime::Plan all;
  all.training.emplace();
  all.training->ranks = std::max<int64_t>(1, ranks);
  auto machines = readCluster(cluster, all);
  if (!machines)
    return machines.takeError();
  const int64_t count = ranks ? ranks.getValue() : machines->countRanks();
  const ShardingPlanner::Request split{cluster, count, samples, file, isJson};
  const int64_t effort = budget.getNumOccurrences() ? budget : 0;
  if (planner == Planner::Shardings)
    return shardings.run(*machines, split);
  if (planner == Planner::Soap || planner == Planner::Mcmc)
    return planOperators({model, training, optimizer, cluster, count, samples,
                          planner == Planner::Mcmc, effort, seed, file,
                          comparesAll, isJson},
                         *machines);
  if (auto placement = placementPlanner())
    return planPlacement({model, training, optimizer, cluster, count, samples,
                          *placement, effort,
                          blocks.getNumOccurrences() ? blocks : 0, seed, file,
                          comparesAll, isJson},
                         *machines);
  if (planner == Planner::Bayes) {
    PipelineRequest request = makeRequest(*machines, count);
    request.budget = effort ? effort : 25;
    auto tried = planBayes(request, *machines, seed);
    if (!tried)
      return tried.takeError();
    printTried(*tried, machines->name, comparesAll, isJson);
    return finish(tried->steps[tried->best], file);
  }
  return planAll(*machines, count, split);
}
