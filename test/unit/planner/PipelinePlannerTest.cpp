//===- PipelinePlannerTest.cpp - Stages and schedules of a step -----------===//

#include "planner/pipelines/PipelinePlanner.h"
#include "planner/pipelines/Rows.h"
#include "runtime/schedule/Generate.h"
#include "simulator/cluster/ClusterFile.h"
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace mlc::planner;
using namespace mlc::simulator;
using mlc::runtime::schedule::ActionKind;

namespace {

/// All ways to cut a row into parts.
template <typename Visit>
void forEachDivision(size_t count, size_t parts, std::vector<size_t> &ends,
                     Visit visit) {
  const size_t begin = ends.empty() ? 0 : ends.back();
  if (parts == 1) {
    ends.push_back(count);
    visit(ends);
    ends.pop_back();
    return;
  }
  for (size_t end = begin + 1; end + parts - 1 <= count; ++end) {
    ends.push_back(end);
    forEachDivision(count, parts - 1, ends, visit);
    ends.pop_back();
  }
}

/// Blocks of random times, each of which reads the one before it, and a skip.
PipelineProblem randomProblem(std::mt19937 &random, size_t blocks,
                              const Network &network) {
  PipelineProblem problem;
  problem.network = &network;
  problem.places.ranks = {0, 1};
  problem.microBatches = 4;
  auto time = [&] { return Time(1000000 + random() % 9000000); };
  problem.kinds = {0, 0};
  problem.blocks.resize(1);
  StepCosts &costs = problem.blocks[0];
  for (size_t i = 0; i < blocks; ++i) {
    costs.times.push_back({time(), time(), time(), time() / 10});
    costs.sums.push_back(1000);
    const auto block = int64_t(i);
    const int64_t bytes = 100 + random() % 1000;
    if (i + 1 < blocks) {
      costs.values.push_back({block, bytes, false, {block + 1}});
      costs.values.push_back({block + 1, bytes, false, {block}});
    }
    for (ActionKind kind : {ActionKind::Forward, ActionKind::InputGradient,
                            ActionKind::WeightGradient, ActionKind::Step})
      problem.memory.entries.push_back({{block, kind}, 100, 0});
    problem.memory.states.push_back(
        {{{block, ActionKind::Forward}, {block, ActionKind::Step}}, 1000, -1});
  }
  costs.values.push_back({0, 50, false, {1, int64_t(blocks) - 1}});
  return problem;
}

Cluster machine() {
  Cluster cluster;
  REQUIRE(openCluster("cluster:this-machine", cluster).ok());
  return cluster;
}

} // namespace

TEST_CASE("the heaviest part of a row is as light as possible", "[planner]") {
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t count = 1 + random() % 9, parts = 1 + random() % count;
    std::vector<double> weights(count);
    for (double &weight : weights)
      weight = random() % 20;
    auto heaviest = [&](const std::vector<size_t> &ends) {
      double most = 0;
      size_t begin = 0;
      for (size_t end : ends) {
        most = std::max(most, std::accumulate(weights.begin() + long(begin),
                                              weights.begin() + long(end), 0.));
        begin = end;
      }
      return most;
    };
    double least = 1e9;
    std::vector<size_t> ends;
    forEachDivision(count, parts, ends, [&](const std::vector<size_t> &all) {
      least = std::min(least, heaviest(all));
    });
    const std::vector<size_t> found =
        divideRow(std::vector<std::vector<double>>(parts, weights));
    REQUIRE(found.size() == parts);
    CHECK(found.back() == count);
    CHECK(std::adjacent_find(found.begin(), found.end(),
                             std::greater_equal<>()) == found.end());
    CHECK(heaviest(found) == least);
  }
}

TEST_CASE("cuts of limited parts cost as little as possible", "[planner]") {
  std::mt19937 random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const size_t count = 2 + random() % 7, parts = 2 + random() % (count - 1);
    std::vector<std::vector<double>> weights(parts), cuts(parts - 1);
    for (auto &row : weights)
      for (size_t i = 0; i < count; ++i)
        row.push_back(random() % 10);
    for (auto &row : cuts)
      for (size_t i = 0; i < count; ++i)
        row.push_back(random() % 10);
    const double limit = 5 + random() % 20;
    auto cost = [&](const std::vector<size_t> &ends) {
      double sum = 0;
      size_t begin = 0;
      for (size_t part = 0; part < parts; begin = ends[part++]) {
        if (std::accumulate(weights[part].begin() + long(begin),
                            weights[part].begin() + long(ends[part]),
                            0.) > limit)
          return 1e9;
        sum += part ? cuts[part - 1][begin] : 0;
      }
      return sum;
    };
    double least = 1e9;
    std::vector<size_t> ends;
    forEachDivision(count, parts, ends, [&](const std::vector<size_t> &all) {
      least = std::min(least, cost(all));
    });
    const std::vector<size_t> found = cutRow(weights, cuts, limit);
    CHECK(found.empty() == (least == 1e9));
    if (!found.empty())
      CHECK(cost(found) == least);
  }
}

TEST_CASE("pipelines are near the best of all divisions, and above the bound",
          "[planner]") {
  std::mt19937 random(6);
  const Cluster cluster = machine();
  const Network network(cluster);
  int best = 0, trials = 40;
  for (int trial = 0; trial < trials; ++trial) {
    const PipelineProblem problem = randomProblem(random, 9, network);
    for (const char *name : {"1f1b", "gpipe"}) {
      PipelinePlanner planner(problem, 200);
      PipelineChoice choice;
      REQUIRE(planner.plan(name, 0, kLongestTime, choice).ok());
      CHECK(choice.excess == 0);
      Time least = kLongestTime;
      std::vector<size_t> ends;
      forEachDivision(9, 2, ends, [&](const std::vector<size_t> &all) {
        // Simulated without the planner.
        StepCosts costs = problem.blocks[0].join(all);
        mlc::runtime::schedule::ScheduleOptions options;
        options.name = name;
        options.ranks = 2;
        options.microBatches = problem.microBatches;
        mlc::runtime::schedule::Table table;
        REQUIRE(mlc::runtime::schedule::generate(options, table).ok());
        Timeline timeline;
        REQUIRE(
            makeStepTimeline(costs, network, problem.places, table, timeline)
                .ok());
        least = std::min(least, timeline.span);
      });
      CHECK(choice.span >= least);
      CHECK(least >= planner.bound());
      CHECK(double(choice.span) <= 1.05 * double(least));
      best += choice.span == least;
    }
  }
  CHECK(best >= 2 * trials * 9 / 10);
}

TEST_CASE("stages are divided by memory where it is short", "[planner]") {
  std::mt19937 random(7);
  Cluster cluster = machine();
  const Network network(cluster);
  PipelineProblem problem = randomProblem(random, 8, network);
  // The first block has most of the weights, and the last takes longest.
  problem.memory.states[0].bytes = 100000;
  problem.blocks[0].times[7].forward *= 20;
  PipelineChoice free, tight;
  PipelinePlanner planner(problem, 200);
  REQUIRE(planner.plan("1f1b", 0, kLongestTime, free).ok());
  for (Device &device : cluster.devices)
    device.memoryBytes.value = double(free.memory - 1);
  REQUIRE(planner.plan("1f1b", 0, kLongestTime, tight).ok());
  CHECK(tight.excess == 0);
  CHECK(tight.memory < free.memory);
  CHECK(tight.span >= free.span);
  for (Device &device : cluster.devices)
    device.memoryBytes.value = 1000;
  REQUIRE(planner.plan("1f1b", 0, kLongestTime, tight).ok());
  CHECK(tight.excess > 0);
}

TEST_CASE("joined stages have what is read of others", "[planner]") {
  StepCosts costs;
  costs.times = {{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}};
  costs.sums = {5, 6, 7};
  costs.values = {{0, 8, false, {1, 2}}, {2, 9, true, {0, 1}}};
  const std::vector<size_t> ends = {1, 3};
  const StepCosts joined = costs.join(ends);
  REQUIRE(joined.countStages() == 2);
  CHECK(joined.times[1].forward == 110);
  CHECK(joined.times[1].step == 440);
  CHECK(joined.sums == std::vector<int64_t>{5, 13});
  // The second stage gets the value once.
  CHECK(joined.values[0].readers == std::vector<int64_t>{1});
  CHECK(joined.values[1].stage == 1);
  CHECK(joined.values[1].readers == std::vector<int64_t>{0, 1});
}

TEST_CASE("schedules that cannot be had are errors", "[planner]") {
  std::mt19937 random(8);
  const Cluster cluster = machine();
  const Network network(cluster);
  const PipelineProblem problem = randomProblem(random, 3, network);
  PipelinePlanner planner(problem, 10);
  PipelineChoice choice;
  CHECK(!planner.plan("interleaved-1f1b", 2, kLongestTime, choice).ok());
  CHECK(!planner.plan("no schedule", 0, kLongestTime, choice).ok());
}
