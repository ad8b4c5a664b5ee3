//===- OwnCollectives.h - What an engine's own take -------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_CLUSTER_OWNCOLLECTIVES_H
#define MLC_SIMULATOR_CLUSTER_OWNCOLLECTIVES_H

#include "simulator/cluster/Cluster.h"
#include "simulator/cluster/CollectiveCall.h"

namespace mlc::simulator {

/// An engine's own collective by its rules: NCCL's (src/graph/tuning.cc, the
/// least time over ring and tree and its three protocols), or a ring's
/// bytes and latencies. `call` is valid for `cluster`.
double ownSeconds(const Cluster &cluster, const CollectiveCall &call);

/// The same for all-reduces and others of `bytes` on `ranks` ranks of which
/// `inNode` are in each node; models that count alike ranks once use it.
struct OwnCall {
  runtime::transport::Collective collective =
      runtime::transport::Collective::AllReduce;
  double bytes = 0;
  int ranks = 1, inNode = 1;
  int sharing = 1;
};
double ownSeconds(const Cluster &cluster, const OwnCall &call);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_OWNCOLLECTIVES_H
