//===- StageFlags.cpp - The stages of a training step ---------------------===//

#include "tools/mlc/StageFlags.h"
#include "tools/mlc/Failure.h"

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

StageFlags::StageFlags(cl::SubCommand &sub)
    : stages("stages", cl::init(1), cl::value_desc("number"),
             cl::desc("Stages of a pipeline that the step is cut into, equally "
                      "heavy (1)"),
             cl::sub(sub)),
      ends("stage-ends", cl::CommaSeparated, cl::value_desc("node,..."),
           cl::desc("Nodes that stages end with; the model ends one stage "
                    "more"),
           cl::sub(sub)),
      schedule("pipeline", cl::value_desc("schedule|file.csv"),
               cl::desc("With --stages on several ranks: the schedule of mlc "
                        "schedule, or the table in FILE.csv, by which they run "
                        "(1f1b, or interleaved-1f1b if ranks have several "
                        "stages)"),
               cl::sub(sub)) {}

llvm::SmallVector<const cl::Option *> StageFlags::options() const {
  return {&stages, std::addressof(ends), &schedule};
}

llvm::Error StageFlags::apply(runtime::TrainingPlan &plan) const {
  if (stages < 1)
    return fail(Exit::Usage, "--stages must be at least 1");
  if (stages.getNumOccurrences() && !ends.empty())
    return fail(Exit::Usage, "--stage-ends says how many stages there are; "
                             "leave --stages out");
  if (schedule.getNumOccurrences() && schedule.empty())
    return fail(Exit::Usage, "--pipeline= names no schedule; see mlc schedule "
                             "--list");
  plan.stages.ends.assign(ends.begin(), ends.end());
  plan.stages.count = ends.empty() ? stages : int64_t(ends.size()) + 1;
  plan.stages.schedule = schedule;
  if (plan.isStaged())
    std::swap(plan.stages.ranks, plan.ranks);
  return llvm::Error::success();
}
