//===- SimulateCommand.cpp - mlc simulate ---------------------------------===//

#include "runtime/schedule/Check.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/Network.h"
#include "simulator/timeline/Pictures.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/StageCosts.h"
#include "tools/mlc/TrainingFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::simulator;
namespace cl = llvm::cl;
namespace json = llvm::json;
namespace schedule = mlc::runtime::schedule;

namespace {

/// A simulated step.
struct Simulation {
  schedule::Table table;
  Timeline timeline;
  std::vector<StageTimes> stages;
  std::vector<int64_t> sent;
  std::string clusterName;

  /// F/B/W of all stages, one after the other, for all micro-batches.
  Time onOneRank() const;
};

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
        cluster("cluster", cl::init("cluster:this-machine"),
                cl::value_desc("file.json|cluster:name"),
                cl::desc("The machines and their links, as of mlc inspect "
                         "(cluster:this-machine)"),
                cl::sub(sub)),
        svg("svg", cl::value_desc("file.svg"),
            cl::desc("Draw a lane for each rank into this file"), cl::sub(sub)),
        trace("trace", cl::value_desc("file.json"),
              cl::desc("Write trace events for Perfetto or Chrome to this "
                       "file"),
              cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {
    model.parameters.setHiddenFlag(cl::Hidden);
    model.byShape = true;
  }

  llvm::Error run() override;

private:
  llvm::Expected<Simulation> simulate();
  llvm::Error time(const StageCosts &costs, const Cluster &machines,
                   Simulation &result) const;
  void print(const Simulation &result) const;
  void printJson(const Simulation &result) const;

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizer;
  DistributionFlags distribution;
  cl::opt<int64_t> batch;
  cl::opt<std::string> cluster, svg, trace;
  cl::opt<bool> asJson;
};

} // namespace

Time Simulation::onOneRank() const {
  // All ranks of a stage update it.
  std::vector<int64_t> updates(stages.size());
  for (const auto &actions : table.ranks) {
    std::vector<int64_t> own(stages.size());
    for (const schedule::Action &action : actions)
      if (action.kind == schedule::ActionKind::Step)
        updates[action.stage] =
            std::max(updates[action.stage], ++own[action.stage]);
  }
  Time sum = 0;
  for (auto [stage, count] : llvm::zip(stages, updates))
    sum += (stage.forward + stage.input + stage.weight) *
               table.countMicroBatches() +
           stage.step * count;
  return sum;
}

/// Gives the table's actions times.
llvm::Error SimulateCommand::time(const StageCosts &costs,
                                  const Cluster &machines,
                                  Simulation &result) const {
  Network network(machines);
  TimelineOptions options;
  options.stages = costs.times();
  options.reads = costs.reads();
  options.bytes = [&](const schedule::Action &send) {
    return costs.bytes(send);
  };
  options.transfer = [&](int32_t, int64_t bytes, int32_t from, int32_t to) {
    return network.transfer(from, to, bytes);
  };
  // The first rank takes the sums of the others, and sends the total back.
  options.collective = [&](const schedule::Action &action) {
    Time sum = 0;
    const std::vector<int> &having = costs.ranksOf(action.stage);
    if (action.kind == schedule::ActionKind::ReduceGradients)
      for (int rank : llvm::drop_begin(having))
        sum += 2 * network.transfer(rank, having.front(),
                                    costs.sumBytes(action.stage));
    return sum;
  };
  auto status = schedule::addTransfers(result.table, options.reads);
  if (status.ok()) {
    schedule::addUpdates(result.table);
    status = makeTimeline(result.table, options, result.timeline);
  }
  return statusFailure(status);
}

llvm::Expected<Simulation> SimulateCommand::simulate() {
  auto plan = distribution.givenPlan();
  if (!plan)
    return plan.takeError();
  const mlc::runtime::TrainingPlan &split = *plan->training;
  if (split.stages.ranks < 2)
    return fail(mlc::Exit::Usage,
                "simulates stages on several ranks; give --stages and --ranks, "
                "or a plan");
  if (split.isSplit())
    return fail(mlc::Exit::Usage,
                "simulates each stage on one rank of a pipeline; give as many "
                "ranks as run the stages, without a split batch or weights");
  Cluster machines;
  if (auto status = openCluster(cluster, machines); !status.ok())
    return fail(static_cast<mlc::Exit>(status.code),
                cluster + ": " + status.message);
  if (machines.countRanks() < split.stages.ranks)
    return fail(mlc::Exit::Usage,
                fmt::format("{}: has {} ranks, and the plan {}; take another "
                            "cluster, or fewer ranks",
                            cluster.getValue(), machines.countRanks(),
                            split.stages.ranks));
  // The target of the devices prices operators, unless another one is given.
  const std::string &target = machines.deviceOf(0).target;
  if (model.target.getNumOccurrences() == 0 && !target.empty())
    model.target = target;
  auto read =
      readTrainingModel(model, training, &optimizer, batch,
                        {split.accumulate, false, false, /*isApart=*/true,
                         false, false, split.countUpdates() > 1},
                        &*plan);
  if (!read)
    return read.takeError();
  if (read->training.batch == 0)
    return fail(mlc::Exit::Usage,
                model.model + ": the batch is open; give --batch");
  Simulation result;
  result.clusterName = machines.name;
  if (auto status = split.makeTable(result.table); !status.ok())
    return statusFailure(status);
  StageCosts costs(read->compilation->getModule(),
                   read->compilation->makeCostModel(), result.table);
  if (llvm::Error error = time(costs, machines, result))
    return error;
  result.stages = costs.times();
  result.sent = costs.sentBytes();
  return result;
}

void SimulateCommand::print(const Simulation &result) const {
  llvm::outs() << fmt::format(
      "step: {} on {} ranks of {}, idle {}; {} on one rank\n",
      toText(result.timeline.span), result.table.ranks.size(),
      result.clusterName, toPercent(result.timeline.idle()),
      toText(result.onOneRank()));
  for (auto [i, stage] : llvm::enumerate(result.stages))
    llvm::outs() << fmt::format(
        "stage {}: forward {}, backward {}, update {}\n", i,
        toText(stage.forward), toText(stage.input + stage.weight),
        toText(stage.step));
  const std::vector<int64_t> kept = schedule::activationsInFlight(result.table);
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank)
    llvm::outs() << fmt::format(
        "rank {}: busy {}, idle {}, {} bytes sent, activations of {} "
        "micro-batches\n",
        rank, toText(result.timeline.busy[rank]),
        toPercent(result.timeline.idle(int32_t(rank))), result.sent[rank],
        kept[rank]);
}

void SimulateCommand::printJson(const Simulation &result) const {
  json::Array ranks, stages;
  const std::vector<int64_t> kept = schedule::activationsInFlight(result.table);
  for (size_t rank = 0; rank < result.table.ranks.size(); ++rank)
    ranks.push_back(
        json::Object{{"busy_seconds", toSeconds(result.timeline.busy[rank])},
                     {"idle", result.timeline.idle(int32_t(rank)).value()},
                     {"sent_bytes", result.sent[rank]},
                     {"activations", kept[rank]}});
  for (const StageTimes &stage : result.stages)
    stages.push_back(json::Object{
        {"forward_seconds", toSeconds(stage.forward)},
        {"backward_seconds", toSeconds(stage.input + stage.weight)},
        {"update_seconds", toSeconds(stage.step)}});
  llvm::outs() << json::Value(json::Object{
                      {"cluster", result.clusterName},
                      {"seconds", toSeconds(result.timeline.span)},
                      {"idle", result.timeline.idle().value()},
                      {"seconds_on_one_rank", toSeconds(result.onOneRank())},
                      {"stages", std::move(stages)},
                      {"ranks", std::move(ranks)}})
               << '\n';
}

llvm::Error SimulateCommand::run() {
  if (distribution.prints())
    return distribution.printPlan();
  if (training.compileTo.isGiven())
    return fail(mlc::Exit::Usage, "--compile-to is of mlc train");
  if (svg == "-" || trace == "-")
    return fail(mlc::Exit::Usage, "--svg and --trace write to files; name one");
  if (llvm::Error error = refuseSame(
          {{svg, "the picture (--svg)"}, {trace, "the trace (--trace)"}}))
    return error;
  if (llvm::Error error = refuseInputs({svg, trace}, {model.model, cluster}))
    return error;
  auto result = simulate();
  if (!result)
    return result.takeError();
  std::vector<Output> outputs;
  const std::string title = model.model + " on " + result->clusterName;
  if (!svg.empty())
    outputs.push_back({svg, [&](llvm::raw_ostream &os) {
                         os << drawSvg(result->table, result->timeline,
                                       {title, 0});
                         return llvm::Error::success();
                       }});
  if (!trace.empty())
    outputs.push_back({trace, [&](llvm::raw_ostream &os) {
                         os << drawTrace(result->table, result->timeline);
                         return llvm::Error::success();
                       }});
  if (llvm::Error error = writeOutputs(outputs))
    return error;
  if (asJson)
    printJson(*result);
  else
    print(*result);
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeSimulateCommand() {
  return std::make_unique<SimulateCommand>();
}
