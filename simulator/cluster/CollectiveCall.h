//===- CollectiveCall.h - A collective among ranks --------------*- C++ -*-===//

#ifndef MLC_SIMULATOR_CLUSTER_COLLECTIVECALL_H
#define MLC_SIMULATOR_CLUSTER_COLLECTIVECALL_H

#include "runtime/transport/Schedule.h"
#include <vector>

namespace mlc::simulator {

/// A collective among ranks of a cluster.
struct CollectiveCall {
  runtime::transport::Request request;
  int elementBytes = 4;
  /// The cluster's ranks, in the order of the group; request.ranks many,
  /// different.
  std::vector<int> ranks;
  /// Longer transfers are messages of so many bytes, two under way at a time;
  /// 0: each is one message.
  int64_t messageBytes = 0;
  /// So many groups like this one do the same at the same time and share what
  /// leaves a node. For the engine's own collectives only; programs of several
  /// groups are given together.
  int sharing = 1;
};

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_COLLECTIVECALL_H
