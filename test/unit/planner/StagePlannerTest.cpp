//===- StagePlannerTest.cpp - Divisions beside all of them ----------------===//

#include "planner/stages/StagePlanner.h"
#include "runtime/FileBytes.h"
#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace mlc::planner;

namespace {

/// The best of all divisions of layers [begin, end) on all machines of a level,
/// by trying each.
double tryAll(const std::vector<Layer> &layers, size_t begin, size_t end,
              const std::vector<MachineLevel> &levels, size_t level,
              int machines) {
  double best = std::numeric_limits<double>::infinity();
  for (size_t split = begin + 1; split <= end; ++split)
    for (int replicas = 1; replicas <= machines; ++replicas) {
      if ((split == end) != (replicas == machines))
        continue;
      double seconds = 0, weights = 0;
      for (size_t i = begin; i < split; ++i) {
        seconds += layers[i].seconds();
        weights += layers[i].weightBytes;
      }
      if (level > 0)
        seconds = tryAll(layers, begin, split, levels, level - 1,
                         levels[level - 1].count);
      double all = secondsOfStage(
          seconds, weights, begin ? layers[begin - 1].outputBytes : 0,
          split < layers.size() ? layers[split - 1].outputBytes : 0, replicas,
          levels[level].bytesPerSecond);
      if (split < end)
        all = std::max(all, tryAll(layers, split, end, levels, level,
                                   machines - replicas));
      best = std::min(best, all);
    }
  return best;
}

/// What a division takes by the formula, having checked that it has each layer
/// once and all machines.
double secondsOf(const std::vector<Layer> &layers,
                 const std::vector<PlannedStage> &stages, size_t begin,
                 size_t end, const std::vector<MachineLevel> &levels,
                 size_t level) {
  double slowest = 0;
  int machines = 0;
  for (const PlannedStage &stage : stages) {
    REQUIRE(stage.begin == begin);
    REQUIRE(stage.end > stage.begin);
    double seconds = 0, weights = 0;
    for (size_t i = stage.begin; i < stage.end; ++i) {
      seconds += layers[i].seconds();
      weights += layers[i].weightBytes;
    }
    REQUIRE(stage.inner.empty() == (level == 0));
    if (level > 0)
      seconds = secondsOf(layers, stage.inner, stage.begin, stage.end, levels,
                          level - 1);
    slowest = std::max(
        slowest,
        secondsOfStage(
            seconds, weights,
            stage.begin ? layers[stage.begin - 1].outputBytes : 0,
            stage.end < layers.size() ? layers[stage.end - 1].outputBytes : 0,
            stage.replicas, levels[level].bytesPerSecond));
    begin = stage.end;
    machines += stage.replicas;
  }
  REQUIRE(begin == end);
  REQUIRE(machines == levels[level].count);
  return slowest;
}

std::vector<Layer> chainOf(const std::string &network) {
  mlc::runtime::FileBytes layers, edges;
  const std::string base = std::string(MLC_PROFILES) + "/" + network;
  constexpr uint64_t most = 1 << 20;
  REQUIRE(mlc::runtime::FileBytes::read((base + ".csv").c_str(), most, layers)
              .ok());
  REQUIRE(
      mlc::runtime::FileBytes::read((base + "_edges.csv").c_str(), most, edges)
          .ok());
  LayerGraph graph;
  auto status = LayerGraph::parse({"l.csv", layers.text()},
                                  {"e.csv", edges.text()}, graph);
  INFO(status.message);
  REQUIRE(status.ok());
  return graph.chain();
}

std::vector<int> replicasOf(const std::string &network, int gpus) {
  // 10 Gb/s.
  std::vector<int> found;
  for (const PlannedStage &stage :
       divideStages(chainOf(network), {{gpus, 1.25e9}}).stages)
    found.push_back(stage.replicas);
  return found;
}

} // namespace

TEST_CASE("divisions are the best of all", "[planner]") {
  std::mt19937 random(7);
  auto any = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  for (int i = 0; i < 200; ++i) {
    const bool hasTwo = i % 2;
    std::vector<Layer> layers(1 + random() % (hasTwo ? 6 : 12));
    for (Layer &layer : layers) {
      layer.forwardSeconds = any(1);
      layer.backwardSeconds = any(2);
      layer.outputBytes = random() % 3 ? any(3) : 0;
      layer.weightBytes = random() % 3 ? any(4) : 0;
    }
    std::vector<MachineLevel> levels{{1 + int(random() % 8), 0.5 + any(10)}};
    if (hasTwo)
      levels.push_back({1 + int(random() % 8), 0.5 + any(4)});
    StageDivision found = divideStages(layers, levels);
    CHECK(found.seconds ==
          Approx(tryAll(layers, 0, layers.size(), levels, levels.size() - 1,
                        levels.back().count)));
    CHECK(found.seconds ==
          Approx(secondsOf(layers, found.stages, 0, layers.size(), levels,
                           levels.size() - 1)));
  }
}

TEST_CASE("more machines than layers make replicas", "[planner]") {
  StageDivision found = divideStages({{"a", 1, 1, 1, 0}}, {{5, 1}});
  REQUIRE(found.stages.size() == 1);
  CHECK(found.stages[0].replicas == 5);
  CHECK(found.seconds == Approx(0.4));
}

// Published with its code (runtime/*/models/*/gpus=*/hybrid_conf.json).
TEST_CASE("PipeDream's profiles give its published stages", "[planner]") {
  using Replicas = std::vector<int>;
  CHECK(replicasOf("vgg16", 4) == Replicas{3, 1});
  CHECK(replicasOf("alexnet", 4) == Replicas{3, 1});
  CHECK(replicasOf("alexnet", 16) == Replicas{15, 1});
  CHECK(replicasOf("gnmt", 4) == Replicas{1, 1, 1, 1});
}
