//===- StageTable.cpp - The table of a plan's stages ----------------------===//

#include "runtime/Text.h"
#include "runtime/Training.h"
#include "runtime/plan/Plan.h"
#include "runtime/schedule/Check.h"
#include "runtime/schedule/Generate.h"
#include "runtime/schedule/Table.h"

#include <algorithm>

using namespace mlc::runtime;

static Status wrong(const std::string &what) {
  return Status::error(MLC_USAGE, what);
}

/// Checks what of the schedule does not depend on others.
static Status checkStages(const StagePlan &stages) {
  if (stages.count < 1 || stages.count > mostStagesOfAStep)
    return wrong("a step has 1 to " + std::to_string(mostStagesOfAStep) +
                 " stages, not " + std::to_string(stages.count));
  if (!stages.ends.empty() &&
      stages.count != static_cast<int64_t>(stages.ends.size()) + 1)
    return wrong(std::to_string(stages.ends.size()) +
                 " ends make a stage more, not " +
                 std::to_string(stages.count));
  if (stages.count == 1 && (stages.ranks > 1 || !stages.schedule.empty()))
    return wrong("a schedule is of several stages, and there is one; give "
                 "more");
  if (stages.ranks < 1 || stages.ranks > stages.count)
    return wrong(std::to_string(stages.ranks) + " ranks for " +
                 std::to_string(stages.count) +
                 " stages; each rank has a stage at least");
  if (stages.ranks == 1 && !stages.schedule.empty())
    return wrong("a schedule is of several ranks, and there is one; give more");
  return Status::success();
}

Status Plan::checkStaged() const {
  const TrainingPlan &own = *training;
  if (Status status = checkStages(own.stages); !status.ok())
    return status;
  if (!own.isStaged())
    return Status::success();
  if (own.hasServer || own.ranks > 1 || own.zero != ZeroStage::None ||
      own.groups > 1 || !algorithm.empty() ||
      !(own.buckets == BucketOptions::of(own.buckets.rule)))
    return wrong("stages are not taken beside a split batch: data ranks, an "
                 "algorithm, ZeRO, buckets and groups; leave these out");
  if (own.stages.ranks == 1)
    return Status::success();
  schedule::Table table;
  return own.makeTable(table);
}

Status TrainingPlan::makeTable(schedule::Table &table) const {
  const std::string name = !stages.schedule.empty()      ? stages.schedule
                           : stages.count > stages.ranks ? "interleaved-1f1b"
                                                         : "1f1b";
  schedule::ScheduleOptions options;
  options.name = name;
  options.stages = stages.count;
  options.ranks = stages.ranks;
  options.microBatches = accumulate;
  const schedule::ScheduleRow *row = schedule::findSchedule(name);
  if (row && !row->isSynchronous)
    return wrong("the schedule " + printable(name) +
                 " is asynchronous, which training is not yet");
  return schedule::generate(options, table);
}

bool TrainingPlan::splitsBackward() const {
  schedule::Table table;
  if (stages.ranks == 1 || !makeTable(table).ok())
    return false;
  for (const std::vector<schedule::Action> &actions : table.ranks)
    for (const schedule::Action &action : actions)
      if (action.kind == schedule::ActionKind::InputGradient ||
          action.kind == schedule::ActionKind::WeightGradient)
        return true;
  return false;
}
