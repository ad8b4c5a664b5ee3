//===- NcclRules.h - NCCL's own prediction of its collectives ---*- C++ -*-===//
//
// NCCL chooses an algorithm and a protocol for each call by predicted times.
// These are its rules and constants of src/graph/tuning.cc, v2.30.7 (5067397c),
// Copyright (c) 2016-2026 NVIDIA CORPORATION, Apache-2.0. Bandwidths, which
// NCCL takes from its search of the topology, come from the cluster file.
//
// Left out: CollNet, NVLS and PAT, which need switches that add, and which none
// of the shipped clusters has.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_CLUSTER_NCCLRULES_H
#define MLC_SIMULATOR_CLUSTER_NCCLRULES_H

#include "runtime/transport/Schedule.h"
#include "simulator/cluster/Cluster.h"

namespace mlc::simulator {

/// What a ring through a group's ranks finds.
struct Ring {
  int ranks, nodes;
  double near, far; ///< bytes/s inside nodes and between them
  Medium medium;    ///< of the links inside nodes
  double nearLatency = 0, farLatency = 0;
};

/// The seconds that NCCL predicts for its best algorithm and protocol. For an
/// all-gather, a reduce-scatter and an all-to-all `bytes` are those of all
/// parts together.
double ncclSeconds(EngineRules::Architecture architecture, const Ring &ring,
                   runtime::transport::Collective collective, double bytes);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_CLUSTER_NCCLRULES_H
