//===- OwnCollectives.cpp - What an engine's own collectives take ---------===//

#include "simulator/cluster/OwnCollectives.h"
#include "simulator/cluster/NcclRules.h"
#include <algorithm>
#include <limits>
#include <map>

using namespace mlc;
using namespace mlc::simulator;
using runtime::transport::Collective;

namespace {

/// Where the ranks of a group are.
struct Shape {
  int ranks, inNode, nodes;
  int near; ///< the level that connects those of one node
  int far;  ///< the level that connects all
};

} // namespace

static Shape shapeOf(const Cluster &cluster, const CollectiveCall &call) {
  const int node = cluster.nodeLevel();
  Shape shape{static_cast<int>(call.ranks.size()), 1, 1, 0, 0};
  std::map<int, std::vector<int>> nodes;
  for (int rank : call.ranks) {
    nodes[cluster.groupOf(node, rank)].push_back(rank);
    shape.far = std::max(shape.far, cluster.levelOf(call.ranks.front(), rank));
  }
  shape.nodes = static_cast<int>(nodes.size());
  for (const auto &[index, members] : nodes) {
    shape.inNode = std::max(shape.inNode, static_cast<int>(members.size()));
    for (int rank : members)
      shape.near = std::max(shape.near, cluster.levelOf(members.front(), rank));
  }
  return shape;
}

/// Of neighbours, or of ranks spread alike over as many nodes as they need.
static Shape shapeOf(const Cluster &cluster, const OwnCall &call) {
  const int node = cluster.nodeLevel();
  const int inNode = std::max(call.inNode, 1);
  Shape shape{call.ranks, inNode, (call.ranks + inNode - 1) / inNode, 0, 0};
  while (shape.near < node && cluster.levels[shape.near].ranks < inNode)
    ++shape.near;
  shape.far = shape.near;
  const int span = shape.nodes * cluster.levels[node].ranks;
  const int last = static_cast<int>(cluster.levels.size()) - 1;
  if (shape.nodes > 1)
    while (shape.far < last &&
           (shape.far <= node || cluster.levels[shape.far].ranks < span))
      ++shape.far;
  return shape;
}

/// The bytes per second that go around a ring of the group: inside nodes, and
/// where it leaves them.
static Ring ringOf(const Cluster &cluster, const Shape &shape, int sharing) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Ring ring{shape.ranks, shape.nodes, infinity, infinity,
            cluster.levels[shape.near].medium};
  const double nearShare = cluster.constant(Constant::NearLinks);
  const double farShare = cluster.constant(Constant::FarLinks);
  for (int i = 0; i <= shape.near; ++i) {
    const Level &level = cluster.levels[i];
    ring.near = std::min(ring.near, level.bandwidth.at(shape.inNode));
    ring.nearLatency = std::max(ring.nearLatency, level.latencySeconds.value);
  }
  ring.near *= nearShare;
  const int node = cluster.nodeLevel();
  for (int i = node + 1; i <= shape.far; ++i) {
    const Level &level = cluster.levels[i];
    double rate = level.bandwidth.at(shape.ranks) * shape.inNode;
    if (level.sharedBytesPerSecond)
      rate = std::min(rate, level.sharedBytesPerSecond->value / sharing);
    ring.far = std::min(ring.far, rate);
    ring.farLatency = std::max(ring.farLatency, level.latencySeconds.value);
  }
  ring.far *= farShare;
  return ring;
}

/// As an engine behind a link: its ring's bytes and latencies.
static double ringSeconds(const Ring &ring, Collective collective,
                          double bytes) {
  const double n = ring.ranks;
  const double rate = std::min(ring.near, ring.far);
  const double latency = std::max(ring.nearLatency, ring.farLatency);
  if (collective == Collective::Broadcast)
    return bytes / rate + latency;
  const double rounds = collective == Collective::AllReduce ? 2 : 1;
  return rounds * (bytes * (n - 1) / n / rate + (n - 1) * latency);
}

static double seconds(const Cluster &cluster, const Shape &shape, int sharing,
                      Collective collective, double bytes) {
  if (shape.ranks < 2 || bytes <= 0)
    return 0;
  const Ring ring = ringOf(cluster, shape, sharing);
  const EngineRules &engine = cluster.engine;
  return engine.overheadSeconds.value +
         (engine.rules == EngineRules::Nccl
              ? ncclSeconds(engine.architecture, ring, collective, bytes)
              : ringSeconds(ring, collective, bytes));
}

double simulator::ownSeconds(const Cluster &cluster,
                             const CollectiveCall &call) {
  return seconds(
      cluster, shapeOf(cluster, call), call.sharing, call.request.collective,
      static_cast<double>(call.request.elements) * call.elementBytes);
}

double simulator::ownSeconds(const Cluster &cluster, const OwnCall &call) {
  return seconds(cluster, shapeOf(cluster, call), call.sharing, call.collective,
                 call.bytes);
}
