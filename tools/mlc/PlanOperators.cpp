//===- PlanOperators.cpp - Which devices share which operator -------------===//

#include "tools/mlc/PlanOperators.h"
#include "planner/operators/Mcmc.h"
#include "planner/operators/OperatorPlanner.h"
#include "planner/operators/OperatorStarts.h"
#include "runtime/Text.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OperatorPlans.h"
#include "tools/mlc/PlanFile.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;
namespace json = llvm::json;

static constexpr const char *kindNames[] = {"samples", "positions",
                                            "parameters"};

namespace {

/// Strategies with what they take.
struct PlanRow {
  std::string name;
  OperatorPlan plan;
  int64_t memory = 0; ///< of the device that has most
};

class OperatorPlanning {
public:
  OperatorPlanning(const OperatorRequest &request, const Cluster &cluster,
                   StepOperators step)
      : request(request), cluster(cluster), network(cluster),
        step(std::move(step)), devices(int32_t(request.ranks)),
        space(this->step.graph, devices, !request.output.empty()) {}

  llvm::Error run();

private:
  Strategies firstStrategies() const;
  PlanRow simulate(StepSimulator &simulator, std::string name,
                   const Strategies &strategies) const;
  PlanRow search(StepSimulator &simulator, bool isMcmc) const;
  void findOthers(StepSimulator &simulator, std::vector<PlanRow> &rows) const;
  void print(const std::vector<PlanRow> &rows) const;
  void printOperators(const Strategies &strategies) const;
  json::Object toJson(const std::vector<PlanRow> &rows) const;
  llvm::Error write(const PlanRow &best) const;

  const OperatorRequest &request;
  const Cluster &cluster;
  Network network;
  StepOperators step;
  int32_t devices;
  StrategySpace space;
};

} // namespace

/// Samples on all ranks, or what the space has in their place.
Strategies OperatorPlanning::firstStrategies() const {
  Strategies strategies = splitSamples(step.graph, devices);
  if (space.has(strategies))
    return strategies;
  for (size_t i = 0; i < strategies.size(); ++i) {
    const std::vector<Strategy> &all = space.of(int32_t(i));
    if (!llvm::is_contained(all, strategies[i]))
      strategies[i] = *std::max_element(
          all.begin(), all.end(), [](const Strategy &a, const Strategy &b) {
            return a.degrees < b.degrees;
          });
  }
  return strategies;
}

PlanRow OperatorPlanning::simulate(StepSimulator &simulator, std::string name,
                                   const Strategies &strategies) const {
  PlanRow row{std::move(name), {}, 0};
  row.plan.strategies = strategies;
  row.plan.span = simulator.set(strategies);
  row.plan.bytes = simulator.bytes();
  for (const StepSimulator::Load &load : simulator.loads())
    row.memory = std::max(row.memory, load.weightBytes + load.resultBytes);
  return row;
}

PlanRow OperatorPlanning::search(StepSimulator &simulator, bool isMcmc) const {
  simulator.set(firstStrategies());
  OperatorPlan plan;
  if (isMcmc) {
    McmcOptions options;
    options.seed = request.seed;
    if (request.budget)
      options.proposals = request.budget;
    plan = walk(simulator, space, options);
  } else {
    plan = request.budget
               ? planner::planOperators(simulator, step.graph, space, network,
                                        request.budget)
               : planner::planOperators(simulator, step.graph, space, network);
  }
  PlanRow row =
      simulate(simulator, isMcmc ? "random walk (mcmc)" : "search (soap)",
               plan.strategies);
  row.plan.proposals = plan.proposals;
  row.plan.accepted = plan.accepted;
  return row;
}

/// What else is compared.
void OperatorPlanning::findOthers(StepSimulator &simulator,
                                  std::vector<PlanRow> &rows) const {
  if (!request.compares)
    return;
  rows.push_back(simulate(simulator, "one rank", splitSamples(step.graph, 1)));
  rows.push_back(simulate(
      simulator, "elimination, nothing overlapped",
      eliminate(step.graph, space, findLayers(step.graph), network, devices)));
  rows.push_back(search(simulator, !request.isMcmc));
}

/// "0-15", "3".
static std::string describeRanks(const Strategy &strategy) {
  const int32_t parts = strategy.parts();
  return parts == 1
             ? std::to_string(strategy.first)
             : fmt::format("{}-{}", strategy.first, strategy.first + parts - 1);
}

/// "16 samples x 4 parameters".
static std::string describeParts(const StepOperator &op,
                                 const Strategy &strategy) {
  std::string text;
  for (size_t d = 0; d < op.dims.size(); ++d)
    if (strategy.degrees[d] > 1)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : " x ", strategy.degrees[d],
                      kindNames[size_t(op.dims[d].kind)]);
  return text.empty() ? "whole" : text;
}

/// A line for the operators of a layer that are divided alike.
void OperatorPlanning::printOperators(const Strategies &strategies) const {
  for (const OperatorClass &layer : findLayers(step.graph)) {
    std::vector<std::pair<Strategy, OperatorClass>> alike;
    for (int32_t op : layer) {
      auto known = llvm::find_if(
          alike, [&](const auto &one) { return one.first == strategies[op]; });
      if (known == alike.end())
        alike.push_back({strategies[op], {op}});
      else
        known->second.push_back(op);
    }
    for (const auto &[strategy, members] : alike) {
      const StepOperator &op = step.graph.operators[members.front()];
      llvm::outs() << fmt::format(
          "  {}{}: {} on {} {}\n", runtime::printable(op.name),
          members.size() > 1
              ? fmt::format(" and {} like it", members.size() - 1)
              : "",
          describeParts(op, strategy), strategy.parts() > 1 ? "ranks" : "rank",
          describeRanks(strategy));
    }
  }
}

void OperatorPlanning::print(const std::vector<PlanRow> &rows) const {
  size_t width = 0;
  for (const PlanRow &row : rows)
    width = std::max(width, row.name.size());
  llvm::outs() << fmt::format(
      "{:<{}}        step     received   on a rank  proposals\n", "", width);
  for (const PlanRow &row : rows)
    llvm::outs() << fmt::format(
        "{:<{}}  {:>10}  {:>8.3f} GB {:>8.3f} GB{}\n", row.name, width,
        toText(row.plan.span), double(row.plan.bytes) * 1e-9,
        double(row.memory) * 1e-9,
        row.plan.proposals ? fmt::format("  {:>9}", row.plan.proposals) : "");
  const PlanRow &best = rows.front();
  llvm::outs() << fmt::format(
      "{} on {} ranks of {}, of about 10^{:.0f} ways to divide {} operators:\n",
      best.name, devices, cluster.name, space.digits(),
      step.graph.operators.size());
  printOperators(best.plan.strategies);
}

json::Object OperatorPlanning::toJson(const std::vector<PlanRow> &rows) const {
  json::Array all, operators;
  for (const PlanRow &row : rows)
    all.push_back(json::Object{{"name", row.name},
                               {"seconds", toSeconds(row.plan.span)},
                               {"received_bytes", row.plan.bytes},
                               {"memory_bytes", row.memory},
                               {"proposals", row.plan.proposals},
                               {"accepted", row.plan.accepted}});
  for (size_t i = 0; i < step.graph.operators.size(); ++i) {
    const StepOperator &op = step.graph.operators[i];
    const Strategy &strategy = rows.front().plan.strategies[i];
    json::Array dims;
    for (size_t d = 0; d < op.dims.size(); ++d)
      dims.push_back(json::Object{{"kind", kindNames[size_t(op.dims[d].kind)]},
                                  {"extent", op.dims[d].extent},
                                  {"parts", strategy.degrees[d]}});
    operators.push_back(json::Object{{"name", json::fixUTF8(op.name)},
                                     {"type", op.type},
                                     {"first_rank", strategy.first},
                                     {"ranks", strategy.parts()},
                                     {"dims", std::move(dims)}});
  }
  return json::Object{{"cluster", cluster.name},
                      {"ranks", devices},
                      {"space_digits", space.digits()},
                      {"plans", std::move(all)},
                      {"operators", std::move(operators)}};
}

/// Where the partitioner can carry the plan out.
llvm::Error OperatorPlanning::write(const PlanRow &best) const {
  auto plan = makePlan(step.graph, best.plan.strategies, devices);
  if (!plan)
    return withFile(request.model.model, Exit::Unsupported, plan.takeError());
  return writeSimulated({request.model, request.training, request.optimizer,
                         request.samples, *plan, request.cluster,
                         ArenaSource::Operators},
                        request.output, devices, request.asJson);
}

llvm::Error OperatorPlanning::run() {
  if (const int32_t without = space.firstWithout(); without >= 0)
    return fail(
        Exit::Unsupported,
        fmt::format("{}: '{}' cannot be divided among {} ranks, and a plan "
                    "file has each operator on all ranks; leave -o out, or "
                    "give fewer --ranks",
                    request.model.model.getValue(),
                    runtime::printable(step.graph.operators[without].name),
                    devices));
  StepSimulator simulator(step.graph, network, step.kinds, firstStrategies());
  std::vector<PlanRow> rows{search(simulator, request.isMcmc)};
  rows.push_back(simulate(simulator, "samples on all ranks",
                          splitSamples(step.graph, devices)));
  findOthers(simulator, rows);
  if (request.asJson)
    llvm::outs() << json::Value(toJson(rows)) << '\n';
  else
    print(rows);
  const auto capacity =
      static_cast<int64_t>(cluster.deviceOf(0).memoryBytes.value);
  if (rows.front().memory > capacity)
    return fail(Exit::Resources,
                fmt::format("{}: a rank has at least {} bytes of weights and "
                            "results, and {} of memory; give more --ranks, or "
                            "plan with --planner=pipelines",
                            request.model.model.getValue(), rows.front().memory,
                            capacity));
  return request.output.empty() ? llvm::Error::success() : write(rows.front());
}

llvm::Error mlc::cli::planOperators(const OperatorRequest &request,
                                    const Cluster &cluster) {
  takeTarget(cluster, request.model);
  auto step =
      readStepOperators(request.model, request.training, request.optimizer,
                        request.samples, cluster, int32_t(request.ranks));
  if (!step)
    return step.takeError();
  return OperatorPlanning(request, cluster, std::move(*step)).run();
}
