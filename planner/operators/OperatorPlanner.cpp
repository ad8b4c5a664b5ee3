//===- OperatorPlanner.cpp - A search for strategies ----------------------===//

#include "planner/operators/OperatorPlanner.h"
#include "planner/operators/OperatorStarts.h"
#include <algorithm>
#include <cmath>

using namespace mlc::planner;
using mlc::simulator::Time;

namespace {

/// So many of the known strategies are improved.
constexpr size_t kStarts = 3;
/// Of all proposals: for one of these; and for a walk, of those that are left.
constexpr double kStartShare = 0.1, kWalkShare = 0.5;
/// A walk's beta, of costs over the first step: at its begin, which is hotter
/// every second time, and at its end.
constexpr double kFirstBetas[] = {300, 50}, kLastBeta = 3'000;

class Search {
public:
  Search(StepSimulator &simulator, const OperatorGraph &graph,
         const StrategySpace &space, const mlc::simulator::Network &network,
         int64_t proposals)
      : simulator(simulator), graph(graph), space(space), network(network),
        limit(proposals), layers(findLayers(graph)), draws(1) {
    for (const OperatorClass &repeat : findRepeats(graph, layers))
      groups.push_back(repeat);
    groups.insert(groups.end(), layers.begin(), layers.end());
    layerOf.resize(graph.operators.size());
    for (size_t i = 0; i < layers.size(); ++i)
      for (int32_t op : layers[i])
        layerOf[op] = i;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      for (const TensorRead &read : graph.operators[i].reads)
        if (graph.tensors[read.tensor].maker >= 0)
          neighbours.push_back({graph.tensors[read.tensor].maker, int32_t(i)});
  }

  OperatorPlan run() {
    keepBest();
    const std::vector<Strategies> starts = listStarts();
    for (const Strategies &start : starts) {
      simulator.set(start);
      keepBest();
      improve(groups, best.proposals + int64_t(limit * kStartShare));
    }
    std::vector<OperatorClass> all = groups;
    for (size_t i = 0; i < graph.operators.size(); ++i)
      if (layers[layerOf[i]].size() > 1)
        all.push_back({int32_t(i)});
    for (size_t round = 0; best.proposals < limit; ++round) {
      anneal(best.proposals + int64_t(std::ceil(double(limit - best.proposals) *
                                                kWalkShare)),
             kFirstBetas[round % 2]);
      simulator.set(best.strategies);
      improve(all, limit);
    }
    return best;
  }

private:
  void keepBest() {
    if (!best.strategies.empty() &&
        std::pair(simulator.span(), simulator.bytes()) >=
            std::pair(best.span, best.bytes))
      return;
    best.strategies = simulator.strategies();
    best.span = simulator.span();
    best.bytes = simulator.bytes();
  }

  /// The fastest known strategies, of which no two take equally long.
  std::vector<Strategies> listStarts() {
    const int32_t devices = simulator.countDevices();
    std::vector<Strategies> all = listKnown(graph, space, layers, devices);
    all.push_back(eliminate(graph, space, layers, network, devices));
    std::vector<std::pair<Time, size_t>> order;
    all.push_back(simulator.strategies());
    for (size_t i = 0; i < all.size(); ++i) {
      if (!space.has(all[i]))
        continue;
      order.push_back({simulator.set(all[i]), i});
      keepBest();
    }
    std::sort(order.begin(), order.end());
    std::vector<Strategies> starts;
    Time last = -1;
    for (const auto &[span, number] : order)
      if (span != last && starts.size() < kStarts) {
        starts.push_back(all[number]);
        last = span;
      }
    return starts;
  }

  /// Gives the members of a group a strategy; operators with other lists keep
  /// theirs.
  void change(const OperatorClass &group, const Strategy &strategy) {
    for (int32_t op : group)
      if (space.areAlike(op, group.front()))
        changes.push_back({op, strategy});
  }

  /// Whether the proposed changes are for the better, or as good with fewer
  /// bytes.
  bool isBetter() {
    ++best.proposals;
    const Time span = simulator.propose(changes);
    return std::pair(span, simulator.proposedBytes()) <
           std::pair(simulator.span(), simulator.bytes());
  }

  /// Tries all strategies of all groups until none is for the better.
  void improve(const std::vector<OperatorClass> &all, int64_t until) {
    size_t since = 0;
    for (size_t i = 0; since < all.size(); i = (i + 1) % all.size()) {
      ++since;
      for (const Strategy &strategy : space.of(all[i].front())) {
        if (best.proposals >= std::min(until, limit)) {
          keepBest();
          return;
        }
        changes.clear();
        change(all[i], strategy);
        if (!isBetter()) {
          simulator.reject();
          continue;
        }
        simulator.accept();
        since = 0;
      }
    }
    keepBest();
  }

  void anneal(int64_t until, double firstBeta) {
    const int64_t begin = best.proposals;
    const double first = double(std::max<Time>(best.span, 1));
    simulator.set(best.strategies);
    for (int64_t at = begin; at < std::min(until, limit); at = best.proposals) {
      const double done = double(at - begin) / double(until - begin);
      const double beta =
          firstBeta * std::pow(kLastBeta / firstBeta, done) / first;
      propose();
      ++best.proposals;
      const double longest =
          double(simulator.span()) - std::log1p(-draws.unit()) / beta;
      if (double(simulator.propose(changes)) > longest) {
        simulator.reject();
        continue;
      }
      simulator.accept();
      ++best.accepted;
      keepBest();
    }
  }

  const Strategy &drawStrategy(int32_t op) {
    const std::vector<Strategy> &all = space.of(op);
    return all[draws.below(all.size())];
  }

  /// An operator, a layer, or repeated layers get a random strategy; or a layer
  /// or an operator one on the devices of a neighbour; or two neighbours get
  /// the same devices.
  void propose() {
    changes.clear();
    const size_t kind = draws.below(10);
    if (kind < 4 || neighbours.empty()) {
      const auto op = int32_t(draws.below(graph.operators.size()));
      changes.push_back({op, drawStrategy(op)});
      return;
    }
    if (kind < 7) {
      const OperatorClass &group = groups[draws.below(groups.size())];
      change(group, drawStrategy(group.front()));
      return;
    }
    auto [one, other] = neighbours[draws.below(neighbours.size())];
    if (draws.below(2))
      std::swap(one, other);
    const bool isLayer = draws.below(2);
    Strategy strategy = simulator.strategies()[other];
    if (kind == 9) {
      strategy = drawStrategy(other);
      change(isLayer ? layers[layerOf[other]] : OperatorClass{other}, strategy);
    }
    const Strategy *beside = drawBeside(one, strategy);
    if (beside && (!isLayer || layerOf[one] != layerOf[other]))
      change(isLayer ? layers[layerOf[one]] : OperatorClass{one}, *beside);
    if (changes.empty())
      changes.push_back({one, drawStrategy(one)});
  }

  /// A random strategy of an operator on the devices of another one.
  const Strategy *drawBeside(int32_t op, const Strategy &strategy) {
    const Strategy *found = nullptr;
    size_t count = 0;
    const int32_t parts = strategy.parts();
    for (const Strategy &one : space.of(op))
      if (one.first == strategy.first && one.parts() == parts &&
          draws.below(++count) == 0)
        found = &one;
    return found;
  }

  StepSimulator &simulator;
  const OperatorGraph &graph;
  const StrategySpace &space;
  const mlc::simulator::Network &network;
  int64_t limit;
  std::vector<OperatorClass> layers, groups;
  std::vector<size_t> layerOf;
  std::vector<std::pair<int32_t, int32_t>> neighbours;
  std::vector<Change> changes;
  Draws draws;
  OperatorPlan best;
};

} // namespace

OperatorPlan mlc::planner::planOperators(StepSimulator &simulator,
                                         const OperatorGraph &graph,
                                         const StrategySpace &space,
                                         const simulator::Network &network,
                                         int64_t proposals) {
  return Search(simulator, graph, space, network, proposals).run();
}
