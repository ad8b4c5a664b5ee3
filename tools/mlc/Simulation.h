//===- Simulation.h - A simulated step of a pipeline ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_SIMULATION_H
#define MLC_TOOLS_MLC_SIMULATION_H

#include "runtime/plan/Plan.h"
#include "runtime/schedule/Table.h"
#include "simulator/cluster/Cluster.h"
#include "simulator/timeline/StepMemory.h"
#include "simulator/timeline/Timeline.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlc::cli {

/// A simulated step.
struct Simulation {
  std::string model;
  simulator::Cluster cluster;
  /// With its transfers and updates.
  runtime::schedule::Table table;
  simulator::Timeline timeline;
  std::vector<simulator::StageTimes> stages;
  /// The bytes that each rank of the table sends.
  std::vector<int64_t> sent;
  /// The cluster's ranks of the first copy of the pipeline, and how many copies
  /// there are: the ranks of further axes do the same on other parts.
  std::vector<int64_t> worldRanks;
  int64_t copies = 1;

  /// The device of a rank of the table, and "rank 2", by the cluster's number;
  /// "rank 2 (4 alike)" with that of the other copies.
  const simulator::Device &deviceOf(size_t rank) const {
    return cluster.deviceOf(int(worldRanks[rank]));
  }
  std::string nameOf(size_t rank) const;
  /// The cluster's ranks of all copies that do what a rank of the table does.
  std::vector<int64_t> alike(size_t rank) const;
  /// With its model, cluster and prediction, whose bound is the time that the
  /// busiest rank computes.
  runtime::Plan plan;
  simulator::StepMemory step;
  /// Of each rank.
  std::vector<simulator::RankMemory> memory;
  /// Whether arenas are those of compiled entries.
  bool isCompiled = false;
  /// Seconds of steps that were replayed on real ranks; empty: none.
  std::vector<double> replayed;

  /// F/B/W of all stages, one after the other, for all micro-batches.
  simulator::Time onOneRank() const;
  /// The stages that a rank runs, in order.
  std::vector<int64_t> stagesOf(size_t rank) const;
  /// When the action of a point of memory begins.
  simulator::Time timeOf(size_t rank,
                         const simulator::RankMemory::Point &point) const;
};

/// An error if a rank's device has too little memory: it names rank and action.
llvm::Error checkCapacity(const Simulation &result);

/// A line for the step, for each stage and for each rank.
std::string describe(const Simulation &result);
/// The same, and memory over time, as one object.
llvm::json::Value toJson(const Simulation &result);
/// A page of its own that says what each stage and rank holds, sends and waits
/// for, and why, with the picture of drawSvg().
std::string drawPage(const Simulation &result);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_SIMULATION_H
