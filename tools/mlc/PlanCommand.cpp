//===- PlanCommand.cpp - mlc plan -----------------------------------------===//
//
// Divides measured layers into stages, for the machines of a cluster, or says
// how a model is split over them (PlanShardings.h).
//
//===----------------------------------------------------------------------===//

#include "planner/stages/StagePlanner.h"
#include "runtime/FileBytes.h"
#include "runtime/Text.h"
#include "runtime/plan/Plan.h"
#include "simulator/cluster/ClusterFile.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/PlanShardings.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

/// A plan of stages, with what it is of.
struct Planned {
  std::vector<Layer> chain;
  std::vector<MachineLevel> levels;
  StageDivision division;
  std::string machines;
  int64_t ranks = 1;

  double onOneRank() const {
    double sum = 0;
    for (const Layer &layer : chain)
      sum += layer.seconds();
    return sum;
  }
};

class PlanCommand : public Command {
public:
  PlanCommand()
      : Command("plan", "Say how a model is split over ranks, or divide "
                        "measured layers into stages (docs/Planners.md)"),
        shardings(sub),
        edges("edges", cl::value_desc("file.csv"),
              cl::desc("Of layers: which read which, lines of from,to; "
                       "needed"),
              cl::sub(sub)),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Ranks to plan for (all of the cluster)"), cl::sub(sub)),
        cluster("cluster", cl::init("cluster:this-machine"),
                cl::value_desc("file.json|cluster:name"),
                cl::desc("The machines and their links, as of mlc inspect "
                         "(cluster:this-machine)"),
                cl::sub(sub)),
        bandwidth("bandwidth", cl::init(0), cl::value_desc("bytes/s"),
                  cl::desc("Instead of --cluster: any two ranks are connected "
                           "by links of so many bytes a second"),
                  cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Error planModel();
  llvm::Error readMachines(Planned &planned) const;
  llvm::Error readLayers(Planned &planned) const;

  ShardingPlanner shardings;
  cl::opt<std::string> edges;
  cl::opt<int64_t> ranks;
  cl::opt<std::string> cluster;
  cl::opt<double> bandwidth;
  cl::opt<bool> asJson;
};

} // namespace

/// What one machine of a level sends to others of it in a second: all of its
/// ranks together, where they share a link.
static double bytesPerSecond(const Level &level, int ranks) {
  return level.sharedBytesPerSecond ? level.sharedBytesPerSecond->value
                                    : level.bandwidth.at(ranks);
}

/// The levels that `ranks` consecutive ranks of the cluster are on.
static llvm::Error levelsOf(const Cluster &machines, int64_t ranks,
                            std::vector<MachineLevel> &levels) {
  int64_t below = 1;
  for (const Level &level : machines.levels) {
    const int64_t here = std::min<int64_t>(ranks, level.ranks);
    if (here % below || ranks % here)
      return fail(mlc::Exit::Usage,
                  fmt::format("{} ranks do not fill groups of {}, which the "
                              "level {} connects; give a multiple, or fewer",
                              ranks, level.ranks,
                              mlc::runtime::printable(level.name)));
    if (here > below)
      levels.push_back({static_cast<int>(here / below),
                        bytesPerSecond(level, static_cast<int>(here))});
    below = here;
  }
  if (levels.empty())
    levels.push_back({1, bytesPerSecond(machines.levels.front(), 1)});
  return llvm::Error::success();
}

llvm::Error PlanCommand::readMachines(Planned &planned) const {
  constexpr int64_t most = 4096;
  if (ranks.getNumOccurrences() && (ranks < 1 || ranks > most))
    return fail(mlc::Exit::Usage, fmt::format("--ranks must be 1 to {}, not {}",
                                              most, ranks.getValue()));
  if (bandwidth.getNumOccurrences()) {
    if (!std::isfinite(bandwidth) || bandwidth <= 0)
      return fail(mlc::Exit::Usage, "--bandwidth must be above 0");
    if (cluster.getNumOccurrences())
      return fail(mlc::Exit::Usage, "give --cluster or --bandwidth, not both");
    if (!ranks)
      return fail(mlc::Exit::Usage, "--bandwidth needs --ranks");
    planned.levels = {{static_cast<int>(ranks), bandwidth}};
    planned.ranks = ranks;
    planned.machines =
        fmt::format("links of {:g} bytes/s", bandwidth.getValue());
    return llvm::Error::success();
  }
  Cluster machines;
  if (auto status = openCluster(cluster, machines); !status.ok())
    return fail(mlc::Exit(status.code),
                mlc::runtime::printable(cluster) + ": " + status.message);
  planned.ranks = ranks ? ranks.getValue() : machines.countRanks();
  if (planned.ranks > machines.countRanks())
    return fail(mlc::Exit::Usage,
                fmt::format("--ranks={}, and {} has {}", planned.ranks,
                            mlc::runtime::printable(machines.name),
                            machines.countRanks()));
  planned.machines = machines.name;
  return levelsOf(machines, planned.ranks, planned.levels);
}

llvm::Error PlanCommand::readLayers(Planned &planned) const {
  const std::string &profile = shardings.file();
  if (edges.empty())
    return fail(mlc::Exit::Usage, "--edges says which layers read which; give "
                                  "it");
  mlc::runtime::FileBytes layers, reads;
  for (auto [file, bytes] :
       {std::pair(profile, &layers), {edges.getValue(), &reads}})
    if (auto status = mlc::runtime::FileBytes::read(
            file.c_str(), mlc::runtime::maxTextFile, *bytes);
        !status.ok())
      return fail(mlc::Exit(status.code),
                  mlc::runtime::printable(file) + ": " + status.message);
  LayerGraph graph;
  if (auto status = LayerGraph::parse({profile, layers.text()},
                                      {edges, reads.text()}, graph);
      !status.ok())
    return fail(mlc::Exit(status.code), status.message);
  planned.chain = graph.chain();
  return llvm::Error::success();
}

/// Refuses what would take more than about a minute.
static llvm::Error checkSteps(const Planned &planned) {
  constexpr double most = 3e9;
  const double steps = stepsToDivide(planned.chain.size(), planned.levels);
  if (steps <= most)
    return llvm::Error::success();
  return fail(mlc::Exit::Resources,
              fmt::format("{} layers on {} ranks take {:.0e} steps to divide "
                          "exactly, and at most {:.0e} are taken; give fewer "
                          "ranks, or join layers",
                          planned.chain.size(), planned.ranks, steps, most));
}

/// "conv1 to fc3" of the chain's blocks.
static std::string rangeOf(const Planned &planned, const PlannedStage &stage) {
  llvm::StringRef first = planned.chain[stage.begin].name,
                  last = planned.chain[stage.end - 1].name;
  first = first.split('+').first;
  if (llvm::StringRef end = last.rsplit('+').second; !end.empty())
    last = end;
  const std::string begin = mlc::runtime::printable(first.str());
  return first == last
             ? "layer " + begin
             : "layers " + begin + " to " + mlc::runtime::printable(last.str());
}

static double secondsOf(const Planned &planned, const PlannedStage &stage) {
  double sum = 0;
  for (size_t i = stage.begin; i < stage.end; ++i)
    sum += planned.chain[i].seconds();
  return sum;
}

static double weightsOf(const Planned &planned, const PlannedStage &stage) {
  double sum = 0;
  for (size_t i = stage.begin; i < stage.end; ++i)
    sum += planned.chain[i].weightBytes;
  return sum;
}

static void print(const Planned &planned,
                  const std::vector<PlannedStage> &stages,
                  const std::string &margin) {
  for (auto [i, stage] : llvm::enumerate(stages)) {
    llvm::outs() << fmt::format("{}stage {}: {}, {} replica{}, {:.4g} "
                                "ms, {:.4g} MB of weights\n",
                                margin, i, rangeOf(planned, stage),
                                stage.replicas, stage.replicas == 1 ? "" : "s",
                                secondsOf(planned, stage) * 1e3,
                                weightsOf(planned, stage) / 1e6);
    if (stage.inner.size() > 1 ||
        (stage.inner.size() == 1 && stage.inner[0].replicas > 1))
      print(planned, stage.inner, margin + "  ");
  }
}

static json::Value toJson(const Planned &planned,
                          const std::vector<PlannedStage> &stages) {
  json::Array list;
  for (const PlannedStage &stage : stages) {
    json::Object one{{"replicas", stage.replicas},
                     {"seconds", secondsOf(planned, stage)},
                     {"weight_bytes", weightsOf(planned, stage)}};
    json::Array layers;
    for (size_t i = stage.begin; i < stage.end; ++i) {
      llvm::SmallVector<llvm::StringRef> names;
      llvm::StringRef(planned.chain[i].name).split(names, '+');
      for (llvm::StringRef name : names)
        layers.push_back(json::fixUTF8(name));
    }
    one["layers"] = std::move(layers);
    if (!stage.inner.empty())
      one["inner"] = toJson(planned, stage.inner);
    list.push_back(std::move(one));
  }
  return list;
}

/// Plans how a model is shared over a mesh.
llvm::Error PlanCommand::planModel() {
  if (edges.getNumOccurrences() || bandwidth.getNumOccurrences())
    return fail(mlc::Exit::Usage, "--edges and --bandwidth are of measured "
                                  "layers (.csv)");
  Cluster machines;
  if (auto status = openCluster(cluster, machines); !status.ok())
    return fail(mlc::Exit(status.code),
                mlc::runtime::printable(cluster) + ": " + status.message);
  const int64_t most = machines.countRanks();
  const int64_t count = ranks.getNumOccurrences() ? ranks.getValue() : most;
  if (count < 1 || count > most)
    return fail(mlc::Exit::Usage,
                fmt::format("--ranks={}, and {} has {}", count,
                            mlc::runtime::printable(machines.name), most));
  return shardings.run(machines, cluster, count, asJson);
}

llvm::Error PlanCommand::run() {
  if (shardings.file().empty())
    return fail(mlc::Exit::Usage,
                "no file; give a model, or measured layers (.csv)");
  if (!llvm::StringRef(shardings.file()).ends_with(".csv"))
    return planModel();
  Planned planned;
  if (llvm::Error error = readMachines(planned))
    return error;
  if (llvm::Error error = readLayers(planned))
    return error;
  if (llvm::Error error = checkSteps(planned))
    return error;
  planned.division = divideStages(planned.chain, planned.levels);
  const double seconds = planned.division.seconds;
  if (asJson) {
    llvm::outs() << json::Value(json::Object{
                        {"ranks", planned.ranks},
                        {"machines", planned.machines},
                        {"seconds", seconds},
                        {"seconds_on_one_rank", planned.onOneRank()},
                        {"stages", toJson(planned, planned.division.stages)}})
                 << '\n';
    return llvm::Error::success();
  }
  llvm::outs() << fmt::format(
      "{} stage{} on {} ranks of {}: {:.4g} ms for a micro-batch; {:.4g} ms on "
      "one rank\n",
      planned.division.stages.size(),
      planned.division.stages.size() == 1 ? "" : "s", planned.ranks,
      planned.machines, seconds * 1e3, planned.onOneRank() * 1e3);
  print(planned, planned.division.stages, "");
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makePlanCommand() {
  return std::make_unique<PlanCommand>();
}
