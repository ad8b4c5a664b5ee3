//===- FitTest.cpp - Iterations of a GPT, and constants fitted to them ----===//

#include "simulator/iteration/Fit.h"
#include "Samples.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/iteration/GptIteration.h"
#include "simulator/iteration/LeastSquares.h"
#include <cmath>
#include <fstream>
#include <sstream>

using namespace mlc;
using namespace mlc::simulator;

namespace {

Cluster a100() {
  Cluster cluster;
  REQUIRE(openCluster("cluster:a100-800g", cluster).ok());
  return cluster;
}

std::vector<Iteration> measured(const char *name, const Cluster &cluster) {
  std::ifstream file(std::string(MLC_MEASURED_FOLDER "/") + name);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  std::vector<Iteration> rows;
  runtime::Status status = readIterations(text.str(), cluster, rows);
  INFO(status.message);
  REQUIRE(status.ok());
  return rows;
}

std::vector<Iteration> allMeasured(const Cluster &cluster) {
  std::vector<Iteration> rows = measured("iterations_single_node.csv", cluster);
  for (const Iteration &row : measured("iterations_multi_node.csv", cluster))
    rows.push_back(row);
  return rows;
}

const char *const header =
    "gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tensor,data,"
    "pipeline,iteration_ms\n";

std::string refusal(const std::string &text) {
  std::vector<Iteration> rows;
  return readIterations(text, a100(), rows).message;
}

} // namespace

TEST_CASE("least squares find Rosenbrock's minimum and a line") {
  auto rosenbrock = [](const std::vector<double> &x) {
    return std::vector<double>{10 * (x[1] - x[0] * x[0]), 1 - x[0]};
  };
  auto at = leastSquares(rosenbrock, {-1.2, 1}, {200, 1e-14, 10});
  CHECK(at[0] == Approx(1).epsilon(1e-4));
  CHECK(at[1] == Approx(1).epsilon(1e-4));
  auto line = [](const std::vector<double> &x) {
    std::vector<double> all;
    for (double t : {0.0, 1.0, 2.0, 5.0})
      all.push_back(x[0] + x[1] * t - (3 - 0.5 * t));
    return all;
  };
  at = leastSquares(line, {0, 0}, {50, 1e-14, 10});
  CHECK(at[0] == Approx(3).epsilon(1e-6));
  CHECK(at[1] == Approx(-0.5).epsilon(1e-6));
}

TEST_CASE("Kendall's tau, also with ties") {
  const std::vector<double> a = {1, 2, 3, 4};
  CHECK(kendallTau(a, std::vector<double>{1, 2, 3, 4}) == 1);
  CHECK(kendallTau(a, std::vector<double>{4, 3, 2, 1}) == -1);
  CHECK(kendallTau(a, std::vector<double>{1, 1, 2, 2}) ==
        Approx(4 / std::sqrt(24.0)));
}

TEST_CASE("the model fits measured iterations that it has not seen") {
  const Cluster cluster = a100();
  const std::vector<Iteration> rows = allMeasured(cluster);
  REQUIRE(rows.size() == 1549);
  static_assert(constantCount <= 13);
  for (uint64_t seed : {0, 1}) {
    const FitResult result = fit(cluster, rows, {0.8, seed});
    CHECK(result.fittedRows == 310);
    CHECK(result.oneNode.rows == 1152);
    CHECK(result.manyNodes.rows == 87);
    CHECK(result.oneNode.meanError < 0.055);
    CHECK(result.manyNodes.meanError < 0.09);
    CHECK(result.oneNode.tau > 0.93);
    CHECK(result.manyNodes.tau > 0.84);
    CHECK(result.choices.groups == 144);
    CHECK(result.choices.meanLoss < 0.04);
  }
}

TEST_CASE("a fit says whether rows were held out") {
  const Cluster cluster = a100();
  std::vector<Iteration> rows = measured("iterations_single_node.csv", cluster);
  rows.resize(10);
  rows.push_back(measured("iterations_multi_node.csv", cluster).front());
  const FitResult result = fit(cluster, rows, {0.5, 0});
  CHECK(result.oneNode.rows == 5);
  CHECK(result.oneNode.heldOut);
  CHECK(result.manyNodes.rows == 1);
  CHECK(!result.manyNodes.heldOut); // its only row was fitted
  CHECK(!fit(cluster, rows, {0, 0}).oneNode.heldOut);
}

TEST_CASE("a fit finds the constants that made the times") {
  Cluster truth = a100();
  std::vector<Iteration> rows = allMeasured(truth);
  const double factors[constantCount] = {0.8, 1.4, 1.1,  1.3, 1.2, 1.5,
                                         1.4, 1.3, 0.95, 1,   1.1};
  for (size_t i = 0; i < constantCount; ++i)
    truth.training[i].value *= factors[i];
  for (Iteration &row : rows)
    row.seconds = predict(truth, row).total();
  const FitResult result = fit(a100(), rows, {0.5, 3});
  CHECK(result.oneNode.meanError < 0.005);
  CHECK(result.manyNodes.meanError < 0.005);
  // The same rows give the same numbers.
  const FitResult again = fit(a100(), rows, {0.5, 3});
  CHECK(writeCluster(again.cluster) == writeCluster(result.cluster));
}

TEST_CASE("a pipeline's idle time is that of 1F1B") {
  const Cluster cluster = a100();
  Iteration row;
  row.gpus = row.pipeline = 4;
  row.globalBatch = 64;
  row.hidden = 2048;
  row.heads = 16;
  row.layers = 24;
  row.sequence = 1024;
  const IterationParts parts = predict(cluster, row);
  const double stage = (parts.layers + parts.transfers) / 64;
  CHECK(parts.idle == Approx(3 * stage));
  CHECK(parts.tensor == 0);
  CHECK(parts.gradients == 0);
}

TEST_CASE("a table of iterations is checked") {
  const std::string good = header;
  CHECK(refusal(good + "2,16,8,1024,16,24,1024,1,1,2,372.2\n").empty());
  CHECK(refusal(good) == "line 2: has no rows");
  CHECK(refusal("gpus,global_bacth\n") ==
        "line 1: the column 'global_bacth' is unknown; do you mean "
        "'global_batch'?");
  CHECK(refusal("gpus,global_batch\n1,1\n") ==
        "line 1: the column 'micro_batch' is missing");
  CHECK(refusal(good + "2,16,8,1024,16,24,1024,1,1,2\n") ==
        "line 2: has 10 fields, and 11 columns are named");
  CHECK(refusal(good + "2,16,8,1024,16,24,1024,1,1,2,nan\n") ==
        "line 2: iteration_ms: expected a number from 0.001 to 1e9, not "
        "'nan'");
  CHECK(refusal(good + "2,16,8,1024,16,24,1024,1,1,2,1e-9\n") ==
        "line 2: iteration_ms: expected a number from 0.001 to 1e9, not "
        "'1e-9'");
  CHECK(refusal(good + "2,16,8,1024,16,24,1024,1,1,2,0.001\n").empty());
  CHECK(refusal(good + "4,16,8,1024,16,24,1024,1,1,2,372\n") ==
        "line 2: gpus is 4, and tensor * data * pipeline is 2");
  CHECK(refusal(good + "2,16,3,1024,16,24,1024,1,1,2,372\n") ==
        "line 2: global_batch 16 does not divide into micro-batches of 3 on 1 "
        "ranks");
  CHECK(refusal(good + "2,16,8,1024,16,25,1024,1,1,2,372\n") ==
        "line 2: 25 layers do not divide into 2 stages");
  CHECK(refusal(good + "1024,2048,1,1024,16,24,1024,1,1024,1,372\n") ==
        "line 2: has 1024 gpus, and the cluster 512; take a cluster with more "
        "nodes");
}
