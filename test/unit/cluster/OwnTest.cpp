//===- OwnTest.cpp - An engine's own collectives --------------------------===//

#include "Samples.h"
#include "simulator/cluster/ClusterFile.h"
#include "simulator/cluster/OwnCollectives.h"
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

using namespace mlc;
using namespace mlc::simulator;
using runtime::transport::Algorithm;
using runtime::transport::Collective;

namespace {

Cluster shipped(const std::string &name) {
  Cluster cluster;
  runtime::Status status = openCluster(name, cluster);
  INFO(status.message);
  REQUIRE(status.ok());
  return cluster;
}

/// The mean error of all-reduces of a GPU, by the number of ranks; 0 is of all.
std::map<int, double> errorsOf(const std::string &gpu, const Cluster &cluster) {
  std::ifstream file(MLC_MEASURED_FOLDER "/allreduce.csv");
  REQUIRE(file);
  std::map<int, std::pair<double, int>> sums;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, ranks, bytes, nanoseconds;
    std::getline(fields, name, ',');
    std::getline(fields, ranks, ',');
    std::getline(fields, bytes, ',');
    std::getline(fields, nanoseconds, ',');
    if (name != gpu)
      continue;
    const Time time = timeOf(
        cluster, makeCall(Collective::AllReduce, Algorithm::Own,
                          firstRanks(std::stoi(ranks)), std::stoll(bytes) / 4));
    const double error =
        std::abs(toSeconds(time) * 1e9 / std::stod(nanoseconds) - 1);
    for (int key : {0, std::stoi(ranks)}) {
      sums[key].first += error;
      ++sums[key].second;
    }
  }
  std::map<int, double> means;
  for (const auto &[key, sum] : sums)
    means[key] = sum.first / sum.second;
  return means;
}

} // namespace

TEST_CASE("all-reduces of A100s are as measured") {
  Cluster cluster = shipped("cluster:a100-800g");
  auto errors = errorsOf("a100", cluster);
  REQUIRE(errors.size() == 8);
  CHECK(errors[0] < 0.035);
  // One bandwidth for all is enough for 6 %.
  cluster.levels[0].bandwidth.entries = {{1, 219e9}};
  CHECK(errorsOf("a100", cluster)[0] < 0.06);
}

TEST_CASE("all-reduces of V100s are as measured, size by size") {
  const auto errors = errorsOf("v100", shipped("cluster:p3.16xlarge"));
  REQUIRE(errors.size() == 8);
  for (const auto &[ranks, error] : errors) {
    INFO(ranks << " ranks");
    CHECK(error < 0.05);
  }
}

TEST_CASE("NCCL's rules, followed by hand") {
  Cluster cluster = flat(8, 200e9, 0);
  cluster.levels[0].medium = Medium::NvLink;
  cluster.engine = {EngineRules::Nccl, EngineRules::Ampere, {1e-6, "test"}};
  auto own = [&](double bytes, int ranks) {
    return ownSeconds(cluster,
                      OwnCall{Collective::AllReduce, bytes, ranks, ranks, 1});
  };
  // A large one: the simple ring, 14 hops on 8 ranks.
  CHECK(own(1 << 30, 8) ==
        Approx(1e-6 + 8.4e-6 + 14 * 3.4e-6 + (1 << 30) * 1.75 / 200e9));
  // A small one: the LL ring at NCCL's most.
  CHECK(
      own(1 << 10, 8) ==
      Approx(1e-6 + 6.6e-6 + 14 * 0.6e-6 + 1024 * 1.75 / 87.7e9).epsilon(0.02));
  CHECK(own(1 << 20, 1) == 0);
}

TEST_CASE("rings through nodes take the share of what leaves them") {
  Cluster cluster = twoLevels(4, 4);
  auto own = [&](int inNode, int sharing) {
    return ownSeconds(cluster,
                      OwnCall{Collective::AllGather, 4e9, 4, inNode, sharing});
  };
  // Four ranks of one node: 10e9.
  CHECK(own(4, 1) == Approx(0.75 * 0.4 + 3e-6));
  // One of each node: a rank's 4e9; four such groups: a quarter of 6e9 each.
  CHECK(own(1, 1) == Approx(0.75 + 3 * 5e-6));
  CHECK(own(1, 4) == Approx(0.75 * 4 / 1.5 + 3 * 5e-6));
  // The same by their ranks.
  CollectiveCall call = makeCall(Collective::AllGather, Algorithm::Own,
                                 {0, 4, 8, 12}, 1'000'000'000);
  CHECK(ownSeconds(cluster, call) == Approx(own(1, 1)));
  call.sharing = 4;
  CHECK(ownSeconds(cluster, call) == Approx(own(1, 4)));
}
