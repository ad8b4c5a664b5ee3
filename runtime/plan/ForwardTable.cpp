//===- ForwardTable.cpp - The stages of a model without training ----------===//

#include "runtime/FileBytes.h"
#include "runtime/Text.h"
#include "runtime/plan/Plan.h"
#include "runtime/plan/StagePlaces.h"
#include "runtime/schedule/Check.h"

#include <algorithm>

using namespace mlc::runtime;

static Status wrong(const std::string &what) {
  return Status::error(MLC_USAGE, what);
}

Status Plan::setForwardMesh() {
  for (const MeshAxis &axis : mesh)
    if (axis.name != kStageAxis)
      return wrong("the stages of a model are on the axis \"stage\", and '" +
                   printable(axis.name) +
                   "' would split them; leave one of the two out");
  StagePlan &stages = forward->stages;
  if (stages.count < 1 || stages.count > mostStagesOfAStep)
    return Status::success(); // check() tells
  if (!mesh.empty())
    stages.ranks = mesh[0].size;
  else if (stages.places.empty())
    stages.ranks = stages.chooseRanks(stages.count);
  else // those that stages name
    for (const std::vector<int64_t> &own : stages.places)
      for (int64_t rank : own)
        stages.ranks = std::max(stages.ranks, rank + 1);
  mesh.assign(1, {kStageAxis, static_cast<uint32_t>(stages.ranks)});
  return Status::success();
}

Status Plan::checkForward() const {
  const ForwardPlan &own = *forward;
  if (own.stages.count == 1)
    return wrong("a pipeline has two stages at least; give more, or leave "
                 "stages and micro-batches out");
  if (Status status = checkStages(own.stages); !status.ok())
    return status;
  if (own.microBatches < 1 || own.microBatches > mostBatchesOfAStep)
    return wrong("a batch is divided into 1 to " +
                 std::to_string(mostBatchesOfAStep) + " micro-batches, not " +
                 std::to_string(own.microBatches));
  if (!shardings.empty() || !algorithm.empty())
    return wrong("a model in stages has whole weights, and ranks that add "
                 "nothing; leave shardings and the algorithm out");
  if (own.stages.ranks == 1)
    return Status::success();
  schedule::Table table;
  if (Status status = own.makeTable(table); !status.ok())
    return status;
  return checkPlaces(own.stages, table);
}

/// Reads a table that somebody wrote; what is beside forward passes in it is
/// not looked at.
static Status readForward(const ForwardPlan &plan, schedule::Table &table) {
  Status status =
      readTableFile(plan.stages, "give the axis \"stage\" as many", table);
  if (!status.ok())
    status.message = printable(plan.stages.schedule) + ": " + status.message;
  return status;
}

/// The forward passes of the table, of whole micro-batches.
static Status keepWhole(schedule::Table &table) {
  if (Status status = schedule::keepForward(table); !status.ok())
    return status;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (size_t cell = 0; cell < table.ranks[rank].size(); ++cell)
      if (const schedule::Action &action = table.ranks[rank][cell];
          action.slice != schedule::kNone)
        return Status::badFile("rank " + std::to_string(rank) + ", cell " +
                               std::to_string(cell + 1) + ", " +
                               toString(action) +
                               ": slices of sequences are of training; leave "
                               "them out");
  return Status::success();
}

Status ForwardPlan::makeTable(schedule::Table &table) const {
  const bool isFile = isTableFile(stages.schedule);
  Status status;
  if (isFile) {
    status = readForward(*this, table);
  } else {
    TrainingPlan training;
    training.stages = stages;
    training.accumulate = microBatches;
    status = training.makeTable(table);
  }
  if (!status.ok())
    return status;
  status = keepWhole(table);
  schedule::CheckOptions options;
  options.stages = static_cast<int32_t>(stages.count);
  options.microBatches = static_cast<int32_t>(microBatches);
  // Ranks go on while they send.
  options.isBuffered = true;
  if (status.ok())
    status = schedule::check(table, options);
  if (!status.ok())
    status = isFile ? Status::badFile(printable(stages.schedule) + ": " +
                                      status.message)
                    : wrong("the schedule " + stages.schedule +
                            " has no forward passes for inference: " +
                            status.message + "; take 1f1b or gpipe");
  return status;
}
