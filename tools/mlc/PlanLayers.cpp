//===- PlanLayers.cpp - Stages of measured layers -------------------------===//

#include "tools/mlc/PlanLayers.h"
#include "planner/stages/StagePlanner.h"
#include "runtime/FileBytes.h"
#include "runtime/Text.h"
#include "runtime/plan/Plan.h"
#include "simulator/cluster/ClusterFile.h"
#include "tools/mlc/Failure.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
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
      return fail(Exit::Usage,
                  fmt::format("{} ranks do not fill groups of {}, which the "
                              "level {} connects; give a multiple, or fewer",
                              ranks, level.ranks,
                              runtime::printable(level.name)));
    if (here > below)
      levels.push_back({static_cast<int>(here / below),
                        bytesPerSecond(level, static_cast<int>(here))});
    below = here;
  }
  if (levels.empty())
    levels.push_back({1, bytesPerSecond(machines.levels.front(), 1)});
  return llvm::Error::success();
}

static llvm::Error readMachines(const LayerRequest &request, Planned &planned) {
  const int64_t ranks = request.ranks;
  if (request.bandwidth) {
    const double bandwidth = *request.bandwidth;
    if (!std::isfinite(bandwidth) || bandwidth <= 0)
      return fail(Exit::Usage, "--bandwidth must be above 0");
    if (!ranks)
      return fail(Exit::Usage, "--bandwidth needs --ranks");
    planned.levels = {{static_cast<int>(ranks), bandwidth}};
    planned.ranks = ranks;
    planned.machines = fmt::format("links of {:g} bytes/s", bandwidth);
    return llvm::Error::success();
  }
  Cluster machines;
  if (auto status = openCluster(request.cluster, machines); !status.ok())
    return fail(Exit(status.code),
                runtime::printable(request.cluster) + ": " + status.message);
  planned.ranks = ranks ? ranks : machines.countRanks();
  if (planned.ranks > machines.countRanks())
    return fail(Exit::Usage,
                fmt::format("--ranks={}, and {} has {}", planned.ranks,
                            runtime::printable(machines.name),
                            machines.countRanks()));
  planned.machines = machines.name;
  return levelsOf(machines, planned.ranks, planned.levels);
}

static llvm::Error readLayers(const LayerRequest &request, Planned &planned) {
  if (request.edges.empty())
    return fail(Exit::Usage, "--edges says which layers read which; give it");
  runtime::FileBytes layers, reads;
  for (auto [file, bytes] :
       {std::pair(&request.profile, &layers), {&request.edges, &reads}})
    if (auto status = runtime::FileBytes::read(file->c_str(),
                                               runtime::maxTextFile, *bytes);
        !status.ok())
      return fail(Exit(status.code),
                  runtime::printable(*file) + ": " + status.message);
  LayerGraph graph;
  if (auto status = LayerGraph::parse({request.profile, layers.text()},
                                      {request.edges, reads.text()}, graph);
      !status.ok())
    return fail(Exit(status.code), status.message);
  planned.chain = graph.chain();
  return llvm::Error::success();
}

/// Refuses what would take more than about a minute.
static llvm::Error checkSteps(const Planned &planned) {
  constexpr double most = 3e9;
  const double steps = stepsToDivide(planned.chain.size(), planned.levels);
  if (steps <= most)
    return llvm::Error::success();
  return fail(Exit::Resources,
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
  const std::string begin = runtime::printable(first.str());
  return first == last
             ? "layer " + begin
             : "layers " + begin + " to " + runtime::printable(last.str());
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

static void printStages(const Planned &planned,
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
      printStages(planned, stage.inner, margin + "  ");
  }
}

static json::Value stagesToJson(const Planned &planned,
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
      one["inner"] = stagesToJson(planned, stage.inner);
    list.push_back(std::move(one));
  }
  return list;
}

llvm::Error mlc::cli::planLayers(const LayerRequest &request) {
  Planned planned;
  if (llvm::Error error = readMachines(request, planned))
    return error;
  if (llvm::Error error = readLayers(request, planned))
    return error;
  if (llvm::Error error = checkSteps(planned))
    return error;
  planned.division = divideStages(planned.chain, planned.levels);
  const double seconds = planned.division.seconds;
  if (request.asJson) {
    llvm::outs() << json::Value(json::Object{
                        {"ranks", planned.ranks},
                        {"machines", planned.machines},
                        {"seconds", seconds},
                        {"seconds_on_one_rank", planned.onOneRank()},
                        {"stages",
                         stagesToJson(planned, planned.division.stages)}})
                 << '\n';
    return llvm::Error::success();
  }
  llvm::outs() << fmt::format(
      "{} stage{} on {} ranks of {}: {:.4g} ms for a micro-batch; {:.4g} ms on "
      "one rank\n",
      planned.division.stages.size(),
      planned.division.stages.size() == 1 ? "" : "s", planned.ranks,
      planned.machines, seconds * 1e3, planned.onOneRank() * 1e3);
  printStages(planned, planned.division.stages, "");
  return llvm::Error::success();
}
