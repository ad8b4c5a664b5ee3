//===- PlanPlacement.cpp - Which device runs which operator ---------------===//

#include "tools/mlc/PlanPlacement.h"
#include "planner/placement/PlacementPolicy.h"
#include "runtime/Text.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/PlanFile.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
namespace json = llvm::json;

/// Random placements that others are compared with, and the most placements
/// that all are tried of.
static constexpr int randomPlacements = 200;
static constexpr int64_t mostTriedPlacements = 1'000'000;
/// How much more than an even part a device has of a cut.
static constexpr double cutSlack = 0.05;

namespace {

struct PlacedRow {
  std::string name;
  PlacementResult result;
  bool fits = true;
};

class PlacementPlanning {
public:
  PlacementPlanning(const PlacementRequest &request, const Cluster &cluster,
                    StepOperators given)
      : request(request), cluster(cluster), network(cluster),
        step(std::move(given)), devices(int32_t(request.ranks)),
        groups(makeGroups(step.graph, countGroups())),
        steps(step.graph, network, step.kinds, splitSamples(step.graph, 1)),
        simulator(steps, groups,
                  int64_t(cluster.deviceOf(0).memoryBytes.value)) {}

  llvm::Error run();

private:
  size_t countGroups() const {
    return size_t(request.groups ? request.groups
                                 : std::min<int64_t>(256, 20 * request.ranks));
  }
  PlacedRow row(std::string name, const Placement &placement);
  PlacedRow search(PlacementPlanner planner);
  void addOthers(std::vector<PlacedRow> &rows);
  bool areAlike() const;
  void print(const std::vector<PlacedRow> &rows) const;
  json::Object toJson(const std::vector<PlacedRow> &rows) const;
  llvm::Expected<runtime::Plan> makePlan(const Placement &placement) const;
  llvm::Error write(const PlacementResult &best) const;

  const PlacementRequest &request;
  const Cluster &cluster;
  Network network;
  StepOperators step;
  int32_t devices;
  OperatorGroups groups;
  StepSimulator steps;
  PlacementSimulator simulator;
};

} // namespace

PlacedRow PlacementPlanning::row(std::string name, const Placement &placement) {
  const double seconds = simulator.seconds(placement);
  return {std::move(name), {placement, seconds}, simulator.fits()};
}

PlacedRow PlacementPlanning::search(PlacementPlanner planner) {
  if (planner == PlacementPlanner::MinCut)
    return row("min-cut", placeByCut(groups, devices, cutSlack, request.seed));
  if (planner == PlacementPlanner::Reinforce) {
    ReinforceOptions options;
    options.seed = request.seed;
    if (request.budget)
      options.placements = request.budget;
    const std::vector<Placement> known{
        Placement(groups.count(), 0), placeRuns(groups, devices),
        placeByList(step.graph, groups, network, devices),
        placeByCut(groups, devices, cutSlack, request.seed)};
    return row("reinforce",
               learnPlacement(simulator, step.graph, groups, known, options)
                   .placement);
  }
  PlacedRow best = row("list scheduling, improved",
                       placeByList(step.graph, groups, network, devices));
  const PlacedRow alone = row("", Placement(groups.count(), 0));
  if (alone.result.seconds < best.result.seconds)
    best.result = alone.result;
  return row(best.name,
             improvePlacement(simulator, groups, best.result,
                              request.budget ? request.budget : 20'000)
                 .placement);
}

/// Whether ranks may change their numbers.
bool PlacementPlanning::areAlike() const {
  for (int32_t a = 0; a < devices; ++a)
    for (int32_t b = 0; b < devices; ++b)
      for (int64_t bytes : {int64_t(1) << 10, int64_t(1) << 24})
        if (a != b &&
            network.transfer(a, b, bytes) != network.transfer(0, 1, bytes))
          return false;
  return llvm::all_equal(step.kinds);
}

void PlacementPlanning::addOthers(std::vector<PlacedRow> &rows) {
  rows.push_back(row("one rank", Placement(groups.count(), 0)));
  if (!request.compares)
    return;
  rows.push_back(row("equal runs, a layer a rank", placeRuns(groups, devices)));
  rows.push_back(row("list scheduling",
                     placeByList(step.graph, groups, network, devices)));
  for (auto planner : {PlacementPlanner::List, PlacementPlanner::MinCut})
    if (planner != request.planner)
      rows.push_back(search(planner));
  std::mt19937_64 random(request.seed);
  std::optional<PlacedRow> best;
  for (int i = 0; i < randomPlacements; ++i) {
    PlacedRow one = row("the best of 200 random ones",
                        drawPlacement(groups, devices, random));
    if (!best || one.result.seconds < best->result.seconds)
      best = std::move(one);
  }
  rows.push_back(std::move(*best));
  if (groups.count() <= 12)
    if (auto all =
            tryPlacements(simulator, groups, areAlike(), mostTriedPlacements))
      rows.push_back(row("the best of all", all->placement));
}

void PlacementPlanning::print(const std::vector<PlacedRow> &rows) const {
  size_t width = 0;
  for (const PlacedRow &one : rows)
    width = std::max(width, one.name.size());
  for (const PlacedRow &one : rows)
    llvm::outs() << fmt::format(
        "{:<{}}  {:>10}  {:>9.3f} GB between ranks{}\n", one.name, width,
        one.fits ? toText(toTime(one.result.seconds)) : "-",
        cutBytes(groups, one.result.placement) * 1e-9,
        one.fits ? "" : ", too much memory");
  llvm::outs() << fmt::format(
      "{} on {} ranks of {}: {} operators in {} groups\n", rows.front().name,
      devices, cluster.name, step.graph.operators.size(), groups.count());
  const Placement &placement = rows.front().result.placement;
  for (int32_t device = 0; device < devices; ++device) {
    double seconds = 0;
    size_t count = 0;
    for (size_t group = 0; group < groups.count(); ++group)
      if (placement[group] == device) {
        seconds += groups.seconds[group];
        count += groups.members[group].size();
      }
    llvm::outs() << fmt::format("  rank {}: {} operators, {}\n", device, count,
                                toText(toTime(seconds)));
  }
}

json::Object
PlacementPlanning::toJson(const std::vector<PlacedRow> &rows) const {
  json::Array all, operators;
  for (const PlacedRow &one : rows)
    all.push_back(json::Object{
        {"name", one.name},
        {"seconds", one.result.seconds},
        {"fits", one.fits},
        {"bytes_between_ranks", cutBytes(groups, one.result.placement)}});
  for (size_t i = 0; i < step.graph.operators.size(); ++i)
    operators.push_back(json::Object{
        {"name", json::fixUTF8(step.graph.operators[i].name)},
        {"group", groups.groupOf[i]},
        {"rank", rows.front().result.placement[groups.groupOf[i]]}});
  return json::Object{{"cluster", cluster.name},
                      {"ranks", devices},
                      {"groups", int64_t(groups.count())},
                      {"placements", simulator.countPlacements()},
                      {"plans", std::move(all)},
                      {"operators", std::move(operators)}};
}

/// Stages are runs of operators; each rank has one.
llvm::Expected<runtime::Plan>
PlacementPlanning::makePlan(const Placement &placement) const {
  runtime::Plan plan;
  plan.training.emplace();
  std::vector<int32_t> ranks;
  runtime::StagePlan &stages = plan.training->stages;
  for (size_t i = 0; i < step.graph.operators.size(); ++i) {
    const int32_t rank = placement[groups.groupOf[i]];
    if (!ranks.empty() && ranks.back() == rank)
      continue;
    if (llvm::is_contained(ranks, rank))
      return llvm::createStringError(
          "'" + runtime::printable(step.graph.operators[i].name) +
          "' is on rank " + std::to_string(rank) +
          ", as are operators before those in front of it; a plan file has "
          "operators in a row on each rank; leave -o out");
    if (i)
      stages.ends.push_back(step.graph.operators[i - 1].name);
    ranks.push_back(rank);
  }
  if (ranks.size() < 2)
    return plan;
  stages.count = stages.ranks = int64_t(ranks.size());
  stages.schedule = "1f1b";
  // Fewer ranks than there are get the first numbers.
  const bool isWhole = int32_t(ranks.size()) == devices;
  if (!isWhole && !areAlike())
    return llvm::createStringError(
        "ranks that differ are left out; give fewer --ranks");
  for (auto [stage, rank] : llvm::enumerate(ranks))
    stages.places.push_back({isWhole ? rank : int64_t(stage)});
  if (auto status = plan.check(); !status.ok())
    return statusFailure(status);
  return plan;
}

llvm::Error PlacementPlanning::write(const PlacementResult &best) const {
  auto plan = makePlan(best.placement);
  if (!plan)
    return withFile(request.model.model, Exit::Unsupported, plan.takeError());
  return writeSimulated({request.model, request.training, request.optimizer,
                         request.samples, *plan, request.cluster,
                         ArenaSource::Operators},
                        request.output, devices, request.asJson);
}

llvm::Error PlacementPlanning::run() {
  std::vector<PlacedRow> rows{search(request.planner)};
  addOthers(rows);
  if (request.asJson)
    llvm::outs() << json::Value(toJson(rows)) << '\n';
  else
    print(rows);
  if (!rows.front().fits)
    return fail(Exit::Resources,
                request.model.model.getValue() +
                    ": a rank has too little memory for its weights and "
                    "results; give more --ranks, or plan with "
                    "--planner=pipelines");
  return request.output.empty() ? llvm::Error::success()
                                : write(rows.front().result);
}

llvm::Error mlc::cli::planPlacement(const PlacementRequest &request,
                                    const Cluster &cluster) {
  takeTarget(cluster, request.model);
  auto step =
      readStepOperators(request.model, request.training, request.optimizer,
                        request.samples, cluster, int32_t(request.ranks));
  if (!step)
    return step.takeError();
  if (step->graph.operators.empty())
    return fail(Exit::Usage,
                request.model.model.getValue() + ": has no operators to place");
  return PlacementPlanning(request, cluster, std::move(*step)).run();
}
