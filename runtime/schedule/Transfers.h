//===- Transfers.h - What follows from a table of computations --*- C++ -*-===//
//
// Sends and receives follow from where stages run and from what they read.
// Updates and gathers of weights are added likewise.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_TRANSFERS_H
#define MLC_RUNTIME_SCHEDULE_TRANSFERS_H

#include "runtime/schedule/Table.h"

namespace mlc::runtime::schedule {

/// Stage `to` reads results of stage `from` for each micro-batch. Skip
/// connections are more than one stage apart. Weights that stages share are no
/// such reading.
struct Reading {
  int32_t from, to;
  /// Whether the gradient of what is read goes back.
  bool hasGradient = true;
};

/// Leaves the forward passes alone, for inference: F, and what a table has of
/// its transfers and gathers. Groups that overlap are taken apart. MLC_BAD_FILE
/// if passes name versions or follow an update, or if a rank has no forward
/// pass.
Status keepForward(Table &table);

/// Each stage reads the one before it.
std::vector<Reading> readPrevious(int32_t stages);

/// Adds SEND_F, RECV_F, SEND_B and RECV_B wherever a stage reads the results of
/// another on another rank, and REDUCE_GRAD for stages that several ranks have,
/// if the table has none of theirs.
///
/// The lists of all ranks are cut out of one order in which everything runs, so
/// no rank waits for ever, even if a send ends only when its receive begins,
/// and receives of two ranks come in the order of their sends. That order is
/// the one of a clock by which F, I and W take equally long and transfers no
/// time. A send follows what makes its data. A receive stands where the data
/// come, before what its rank computes then, so that the message travels
/// meanwhile.
///
/// MLC_BAD_FILE names rank and action, if one runs twice, waits for what no
/// rank runs or for itself, or if the table has transfers already.
Status addTransfers(Table &table, const std::vector<Reading> &reads);

/// Adds UNSHARD before and RESHARD after uses of a stage's weights (ZeRO-3).
/// Weights of the next `most` stages that a rank runs are gathered; those of a
/// stage that several ranks have, from begin to end. Before addTransfers().
/// MLC_USAGE if `most` is below 1; MLC_BAD_FILE if the table has UNSHARD.
Status addShards(Table &table, int32_t most);

/// Adds STEP at the end for each stage with gradients, unless the table has
/// STEP; before it REDUCE_GRAD, if several ranks have the stage and the table
/// has none of its. After addTransfers(), if that is called.
void addUpdates(Table &table);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_TRANSFERS_H
