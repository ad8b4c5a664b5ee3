//===- Samples.h - Clusters for tests ---------------------------*- C++ -*-===//

#ifndef MLC_TEST_UNIT_CLUSTER_SAMPLES_H
#define MLC_TEST_UNIT_CLUSTER_SAMPLES_H

#include "simulator/cluster/Network.h"
#include <catch2/catch.hpp>
#include <numeric>

namespace mlc::simulator {

/// `ranks` ranks behind one switch.
inline Cluster flat(int ranks, double bandwidth, double latency) {
  Cluster cluster;
  cluster.devices.push_back({"d", "", {{"f32", {1e12, "test"}}}, {}, {}, {}});
  cluster.nodes.push_back({1, 0, ranks});
  Level level;
  level.ranks = ranks;
  level.latencySeconds.value = latency;
  level.bandwidth.entries = {{1, bandwidth}};
  cluster.levels.push_back(level);
  return cluster;
}

/// `nodes` nodes of `ranks` ranks; a rank sends 10e9 bytes/s in its node and
/// 4e9 out of it, all of a node 6e9.
inline Cluster twoLevels(int nodes, int ranks) {
  Cluster cluster = flat(ranks, 10e9, 1e-6);
  cluster.nodes.front().count = nodes;
  Level level;
  level.ranks = nodes * ranks;
  level.latencySeconds.value = 5e-6;
  level.bandwidth.entries = {{1, 4e9}};
  level.sharedBytesPerSecond = Number{6e9, "test"};
  cluster.levels.push_back(level);
  return cluster;
}

inline CollectiveCall makeCall(runtime::transport::Collective collective,
                               runtime::transport::Algorithm algorithm,
                               std::vector<int> ranks, int64_t elements) {
  CollectiveCall call;
  call.request.collective = collective;
  call.request.algorithm = algorithm;
  call.request.ranks = static_cast<int>(ranks.size());
  call.request.elements = elements;
  call.ranks = std::move(ranks);
  return call;
}

/// Ranks 0 to n - 1.
inline std::vector<int> firstRanks(int n) {
  std::vector<int> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

inline Time timeOf(const Cluster &cluster, const CollectiveCall &call) {
  Time time = -1;
  runtime::Status status = Network(cluster).collective(call, time);
  INFO(status.message);
  REQUIRE(status.ok());
  return time;
}

} // namespace mlc::simulator

#endif // MLC_TEST_UNIT_CLUSTER_SAMPLES_H
