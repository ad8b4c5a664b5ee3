//===- PlacementTest.cpp - Placements beside all of them ------------------===//

#include "planner/placement/PlacementPolicy.h"
#include "simulator/cluster/ClusterFile.h"
#include <catch2/catch.hpp>

#include <cmath>
#include <map>

using namespace mlc::planner;
using namespace mlc::simulator;

namespace {

constexpr int32_t devices = 4;

/// Operators of random work that each read one or two before them.
OperatorGraph randomGraph(uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  OperatorGraph graph;
  for (int i = 0; i < count; ++i) {
    StepOperator op;
    op.name = "op" + std::to_string(i);
    op.type = i % 3 ? "product" : "convolution";
    op.forwardSeconds = {1e-3 * double(1 + random() % 9)};
    op.backwardSeconds = {2 * op.forwardSeconds[0]};
    for (uint64_t j = 0; i && j <= random() % 2; ++j)
      op.reads.push_back(
          {std::max(0, i - 1 - int32_t(random() % 4)), {kWhole}, true});
    op.results = {i};
    StepTensor tensor;
    tensor.name = op.name;
    tensor.dims = {int64_t(1) << (10 + random() % 14)};
    tensor.maker = i;
    tensor.along = {kWhole};
    graph.tensors.push_back(tensor);
    StepWeight weight;
    weight.name = op.name + ".weight";
    weight.dims = {1000};
    weight.stateBytes = 8000;
    weight.updateSeconds = {1e-5};
    graph.weights.push_back(weight);
    op.weights.push_back({i, {kWhole}});
    graph.operators.push_back(op);
  }
  REQUIRE(graph.check().ok());
  return graph;
}

struct Machines {
  Cluster cluster;
  std::optional<Network> network;

  Machines() {
    REQUIRE(openCluster("cluster:flexflow-k80", cluster).ok());
    network.emplace(cluster);
  }
};

/// A graph with its groups and simulators.
struct Placed {
  OperatorGraph graph;
  OperatorGroups groups;
  StepSimulator steps;
  PlacementSimulator simulator;

  Placed(const Machines &machines, OperatorGraph given, size_t most,
         int64_t capacity = int64_t(1) << 40)
      : graph(std::move(given)), groups(makeGroups(graph, most)),
        steps(graph, *machines.network, std::vector<int32_t>(devices),
              splitSamples(graph, 1)),
        simulator(steps, groups, capacity) {}
};

} // namespace

TEST_CASE("groups have all operators, and join heavy neighbours") {
  const OperatorGraph graph = randomGraph(1, 40);
  for (size_t most : {1, 5, 12, 40, 100}) {
    const OperatorGroups groups = makeGroups(graph, most);
    CHECK(groups.count() == std::min<size_t>(most, 40));
    double seconds = 0;
    size_t members = 0;
    for (size_t group = 0; group < groups.count(); ++group) {
      seconds += groups.seconds[group];
      members += groups.members[group].size();
      for (int32_t op : groups.members[group])
        CHECK(groups.groupOf[op] == int32_t(group));
      for (size_t other = 0; other < groups.count(); ++other)
        CHECK(groups.between(group, other) == groups.between(other, group));
    }
    CHECK(members == 40);
    double all = 0;
    for (const StepOperator &op : graph.operators)
      all += op.forwardSeconds[0] + op.backwardSeconds[0];
    CHECK(seconds == Approx(all));
  }
  // Of two neighbours the one with the larger tensor is joined.
  OperatorGraph three = randomGraph(2, 3);
  three.operators[1].reads = {{0, {kWhole}, true}};
  three.operators[2].reads = {{1, {kWhole}, true}};
  three.tensors[0].dims = {10};
  three.tensors[1].dims = {1000};
  CHECK(makeGroups(three, 2).groupOf == std::vector<int32_t>{0, 1, 1});
}

TEST_CASE("all placements are tried once, alike devices up to their numbers") {
  const Machines machines;
  Placed all(machines, randomGraph(3, 6), 6);
  const int64_t before = all.simulator.countPlacements();
  const auto best = tryPlacements(all.simulator, all.groups, false, 5000);
  REQUIRE(best);
  CHECK(all.simulator.countPlacements() - before == 4096);
  const int64_t next = all.simulator.countPlacements();
  const auto alike = tryPlacements(all.simulator, all.groups, true, 5000);
  REQUIRE(alike);
  // Partitions of 6 into at most 4 parts.
  CHECK(all.simulator.countPlacements() - next == 1 + 31 + 90 + 65);
  CHECK(alike->seconds == best->seconds);
  CHECK(!tryPlacements(all.simulator, all.groups, false, 1000));
}

TEST_CASE("what a placement takes is what the simulator says") {
  const Machines machines;
  Placed placed(machines, randomGraph(4, 30), 12);
  std::mt19937_64 random(1);
  StepSimulator other(placed.graph, *machines.network,
                      std::vector<int32_t>(devices),
                      splitSamples(placed.graph, 1));
  for (int i = 0; i < 50; ++i) {
    const Placement placement = drawPlacement(placed.groups, devices, random);
    CHECK(placed.simulator.seconds(placement) ==
          toSeconds(other.set(placed.simulator.strategiesOf(placement))));
    CHECK(placed.simulator.fits());
  }
}

TEST_CASE("searches find what trying all finds") {
  const Machines machines;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Placed placed(machines, randomGraph(10 + seed, 24), 8);
    const auto best =
        tryPlacements(placed.simulator, placed.groups, true, 10'000);
    REQUIRE(best);
    ReinforceOptions options;
    options.seed = seed;
    options.placements = 400;
    options.hidden = 12;
    const PlacementResult learned =
        learnPlacement(placed.simulator, placed.graph, placed.groups,
                       {Placement(placed.groups.count(), 0)}, options);
    INFO("seed " << seed);
    CHECK(learned.seconds <= 1.05 * best->seconds);
    CHECK(learned.seconds == placed.simulator.seconds(learned.placement));
    CHECK(learnPlacement(placed.simulator, placed.graph, placed.groups,
                         {Placement(placed.groups.count(), 0)}, options)
              .placement == learned.placement);
    const Placement list =
        placeByList(placed.graph, placed.groups, *machines.network, devices);
    const PlacementResult improved =
        improvePlacement(placed.simulator, placed.groups,
                         {list, placed.simulator.seconds(list)}, 5000);
    CHECK(improved.seconds <= 1.1 * best->seconds);
  }
}

TEST_CASE("a policy learns without moves") {
  const Machines machines;
  // Chains that give each other nothing: two on each device is best.
  OperatorGraph graph = randomGraph(20, 8);
  for (StepOperator &op : graph.operators) {
    op.forwardSeconds = {1e-3};
    op.backwardSeconds = {2e-3};
    op.reads.clear();
  }
  Placed placed(machines, graph, 8);
  std::mt19937_64 random(7);
  double before = 0;
  for (int i = 0; i < 200; ++i)
    before += placed.simulator.seconds(
                  drawPlacement(placed.groups, devices, random)) /
              200;
  ReinforceOptions options;
  options.placements = 1600;
  options.moves = 0;
  options.hidden = 16;
  CHECK(learnPlacement(placed.simulator, graph, placed.groups,
                       {Placement(placed.groups.count(), 0)}, options)
            .seconds < 0.6 * before);
}

TEST_CASE("a placement that does not fit is slower than any that does") {
  const Machines machines;
  // Each operator has 8000 bytes of weights, and results.
  OperatorGraph graph = randomGraph(5, 8);
  for (StepTensor &tensor : graph.tensors)
    tensor.dims = {10};
  Placed placed(machines, graph, 8, 2 * 8100);
  const Placement alone(8, 0), even{0, 0, 1, 1, 2, 2, 3, 3};
  const double slow = placed.simulator.seconds(alone);
  CHECK(!placed.simulator.fits());
  CHECK(placed.simulator.seconds(even) < slow);
  CHECK(placed.simulator.fits());
}

TEST_CASE("a cut is balanced, and near the least of all") {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const OperatorGraph graph = randomGraph(40 + seed, 11);
    const OperatorGroups groups = makeGroups(graph, 11);
    double all = 0, heaviest = 0;
    for (double seconds : groups.seconds)
      all += seconds, heaviest = std::max(heaviest, seconds);
    const double slack = 0.05 + heaviest / all;
    auto isBalanced = [&](const Placement &placement) {
      double loads[2] = {};
      for (size_t i = 0; i < groups.count(); ++i)
        loads[placement[i]] += groups.seconds[i];
      return std::max(loads[0], loads[1]) <= all / 2 * (1 + slack) + 1e-12;
    };
    double least = 1e300;
    for (int bits = 0; bits < 1 << 11; ++bits) {
      Placement placement;
      for (int i = 0; i < 11; ++i)
        placement.push_back(bits >> i & 1);
      if (isBalanced(placement))
        least = std::min(least, cutBytes(groups, placement));
    }
    const Placement found = placeByCut(groups, 2, slack, 0);
    INFO("seed " << seed);
    CHECK(isBalanced(found));
    CHECK(cutBytes(groups, found) <= 1.5 * least + 1);
  }
}

TEST_CASE("the policy's gradient is that of finite differences") {
  const OperatorGraph graph = randomGraph(6, 9);
  const OperatorGroups groups = makeGroups(graph, 7);
  PlacementPolicy policy(describeGroups(graph, groups), 3, 5, 1);
  std::vector<double> &parameters = policy.parameters();
  for (double &parameter : parameters)
    parameter *= 5;
  const Placement placement{2, 0, 1, 1, 2, 0, 1};
  std::vector<double> gradient(parameters.size());
  policy.addGradient(placement, 0.7, gradient);
  size_t moved = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const double own = parameters[i], step = 1e-5;
    parameters[i] = own + step;
    const double above = policy.logProbability(placement);
    parameters[i] = own - step;
    const double below = policy.logProbability(placement);
    parameters[i] = own;
    const double slope = 0.7 * (above - below) / (2 * step);
    INFO("parameter " << i);
    CHECK(gradient[i] == Approx(slope).epsilon(1e-5).margin(1e-8));
    moved += std::abs(slope) > 1e-6;
  }
  CHECK(moved > parameters.size() * 3 / 4);
}

TEST_CASE("the policy draws as often as it says") {
  const OperatorGraph graph = randomGraph(7, 3);
  const OperatorGroups groups = makeGroups(graph, 3);
  PlacementPolicy policy(describeGroups(graph, groups), 2, 4, 3);
  for (double &parameter : policy.parameters())
    parameter *= 12;
  std::mt19937_64 random(5);
  std::map<Placement, int> counts;
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i)
    ++counts[policy.draw(random)];
  double sum = 0, squares = 0;
  for (int bits = 0; bits < 8; ++bits) {
    const Placement placement{bits & 1, bits >> 1 & 1, bits >> 2};
    const double share = std::exp(policy.logProbability(placement));
    sum += share;
    squares += std::pow(counts[placement] - draws * share, 2) / (draws * share);
  }
  CHECK(sum == Approx(1));
  // Chi square of 7 degrees of freedom: p = 0.001.
  CHECK(squares < 24.3);
}
