//===- OperatorSearchTest.cpp - Searches for strategies of operators ------===//

#include "RandomOperators.h"
#include "planner/operators/Mcmc.h"
#include "planner/operators/OperatorPlanner.h"
#include "planner/operators/OperatorStarts.h"
#include "simulator/cluster/ClusterFile.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace mlc::planner;
using namespace mlc::simulator;

namespace {

Cluster openCluster() {
  Cluster cluster;
  REQUIRE(mlc::simulator::openCluster("cluster:flexflow-k80", cluster).ok());
  return cluster;
}

/// The least time of all strategies of `op` and those behind it.
Time tryAll(StepSimulator &simulator, const StrategySpace &space,
            Strategies &strategies, size_t op) {
  if (op == strategies.size())
    return simulator.set(strategies);
  Time best = kLongestTime;
  for (const Strategy &strategy : space.of(int32_t(op))) {
    strategies[op] = strategy;
    best = std::min(best, tryAll(simulator, space, strategies, op + 1));
  }
  return best;
}

} // namespace

TEST_CASE("a walk visits states as often as their costs say") {
  const Cluster cluster = openCluster();
  const Network network(cluster);
  OperatorGraph graph;
  graph.kinds = 2;
  StepOperator op;
  op.name = "op";
  op.forwardSeconds = {1e-3, 1.15e-3};
  op.backwardSeconds = {0, 0};
  op.dims = {{SplitKind::Sample, 2, {{2, 0.8}}}};
  graph.operators.push_back(op);
  REQUIRE(graph.check().ok());
  // One device, the other, or half each.
  const StrategySpace space(graph, 2);
  REQUIRE(space.of(0).size() == 3);
  const double costs[] = {1, 1.15, 0.8 * 1.15};
  StepSimulator simulator(graph, network, {0, 1}, {Strategy::onDevice(0)});
  McmcOptions options;
  options.seed = 3;
  options.proposals = 400'000;
  options.beta = 8;
  std::map<Time, int64_t> visits;
  int64_t seen = 0;
  // States that follow each other depend on each other.
  options.onState = [&](const StepSimulator &state) {
    if (++seen % 10 == 0)
      ++visits[state.span()];
  };
  walk(simulator, space, options);
  REQUIRE(visits.size() == 3);
  double all = 0, square = 0;
  for (double cost : costs)
    all += std::exp(-options.beta * cost);
  for (double cost : costs) {
    const double expected =
        double(seen / 10) * std::exp(-options.beta * cost) / all;
    const double difference = double(visits[toTime(cost * 1e-3)]) - expected;
    square += difference * difference / expected;
  }
  // Two degrees of freedom: 9.21 is exceeded with a probability of 1 %.
  CHECK(square < 9.21);
}

TEST_CASE("a search finds the best of all strategies") {
  const Cluster cluster = openCluster();
  const Network network(cluster);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const OperatorGraph graph = randomOperators(random, 3);
    const StrategySpace space(graph, 4);
    StepSimulator simulator(graph, network, {0, 0, 0, 0},
                            splitSamples(graph, 4));
    Strategies strategies(3);
    const Time best = tryAll(simulator, space, strategies, 0);
    simulator.set(splitSamples(graph, 4));
    const OperatorPlan plan =
        planOperators(simulator, graph, space, network, 3'000);
    CHECK(plan.span == best);
    CHECK(simulator.set(plan.strategies) == best);
    CHECK(simulator.bytes() == plan.bytes);
  }
}

TEST_CASE(
    "a search is not slower than samples on all devices, nor than walks") {
  const Cluster cluster = openCluster();
  const Network network(cluster);
  for (uint32_t seed = 0; seed < 5; ++seed) {
    std::mt19937 random(seed);
    const OperatorGraph graph = randomOperators(random, 20);
    const StrategySpace space(graph, 8);
    StepSimulator simulator(graph, network, std::vector<int32_t>(8, 0),
                            splitSamples(graph, 8));
    const Time samples = simulator.span();
    const OperatorPlan plan =
        planOperators(simulator, graph, space, network, 60'000);
    CHECK(plan.span <= samples);
    CHECK(plan.proposals <= 60'000);
    simulator.set(splitSamples(graph, 8));
    const OperatorPlan again =
        planOperators(simulator, graph, space, network, 60'000);
    CHECK(again.strategies == plan.strategies);
    for (uint64_t walkSeed : {1, 2}) {
      McmcOptions options;
      options.seed = walkSeed;
      options.proposals = 20'000;
      simulator.set(splitSamples(graph, 8));
      const OperatorPlan walked = walk(simulator, space, options);
      CHECK(plan.span <= walked.span);
      simulator.set(splitSamples(graph, 8));
      CHECK(walk(simulator, space, options).strategies == walked.strategies);
    }
    // No proposals at all.
    simulator.set(splitSamples(graph, 8));
    CHECK(planOperators(simulator, graph, space, network, 0).span <= samples);
  }
}

TEST_CASE("layers share weights, and repeats look alike") {
  std::mt19937 random(1);
  OperatorGraph graph = randomOperators(random, 6);
  // The sixth has the weight of the third.
  const std::vector<OperatorClass> layers = findLayers(graph);
  CHECK(layers == std::vector<OperatorClass>{{0}, {1}, {2, 5}, {3}, {4}});
  CHECK(findRepeats(graph, layers) ==
        std::vector<OperatorClass>{{0, 1, 2, 3, 4, 5}});
  graph.operators[3].type = "conv";
  CHECK(findRepeats(graph, layers) ==
        std::vector<OperatorClass>{{0, 1, 2, 4, 5}});
}

TEST_CASE("spaces have all ways to divide operators") {
  std::mt19937 random(1);
  const OperatorGraph graph = randomOperators(random, 1);
  // Two dims: on one device, on blocks of two (2 ways), on four (3 ways).
  CHECK(StrategySpace(graph, 4).of(0).size() == 4 + 2 * 2 + 3);
  const StrategySpace onAll(graph, 4, true);
  CHECK(onAll.of(0).size() == 3);
  CHECK(onAll.has(splitSamples(graph, 4)));
  CHECK(!onAll.has(splitSamples(graph, 2)));
  CHECK(onAll.firstWithout() == -1);
  // 7 divides neither 16 nor 32.
  CHECK(StrategySpace(graph, 7, true).firstWithout() == 0);
}
