//===- Network.h - What transfers and collectives take ----------*- C++ -*-===//
//
// Transfers share links fairly: at every moment each gets the largest share
// that leaves none with less than it could have (max-min fairness). A rank
// sends and receives at once (full duplex). A transfer takes bytes / share, and
// the latency of its level behind that. docs/Clusters.md says more.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_NETWORK_H
#define MLC_SIMULATOR_CLUSTER_NETWORK_H

#include "simulator/cluster/Cluster.h"
#include "simulator/cluster/CollectiveCall.h"
#include "simulator/cluster/Time.h"
#include <span>

namespace mlc::simulator {

class Network {
public:
  explicit Network(const Cluster &cluster) : cluster(cluster) {}

  const Cluster &getCluster() const { return cluster; }

  /// One transfer, while nothing else is under way. 0 for bytes of a rank's
  /// own.
  Time transfer(int from, int to, int64_t bytes) const;

  /// Transfers of as many bytes that begin together and share links, each from
  /// a rank to another: when the last one ends.
  Time transfers(std::span<const std::pair<int, int>> pairs,
                 int64_t bytes) const;

  /// How many of `ranks` groups, each of which has one of these, leave a node
  /// together: those whose ranks here are in the node of the first.
  int countInNode(std::span<const int> ranks) const;

  /// The time from the beginning on all ranks to the end on the last one. For
  /// an algorithm that is a program of sends and receives (runtime/transport),
  /// this program is run over the links; for Algorithm::Own the rules of the
  /// cluster's engine count. MLC_USAGE for ranks that the cluster has not, or
  /// twice, and for what checkRequest refuses.
  runtime::Status collective(const CollectiveCall &call, Time &time) const;

  /// Several collectives that begin together, on ranks that differ, and share
  /// links. `times` has the end of each; none may be the engine's own.
  runtime::Status together(std::span<const CollectiveCall> calls,
                           std::vector<Time> &times) const;

private:
  runtime::Status check(const CollectiveCall &call) const;

  const Cluster &cluster;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_NETWORK_H
