//===- ForwardFlags.cpp - The stages of a compiled model ------------------===//

#include "tools/mlc/ForwardFlags.h"
#include "tools/mlc/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlc;
using namespace mlc::cli;
namespace cl = llvm::cl;

ForwardFlags::ForwardFlags(cl::SubCommand &sub)
    : stages("stages", cl::init(1), cl::value_desc("number"),
             cl::desc("Stages of a pipeline that the model is cut into, "
                      "equally heavy (1); mlc run starts a rank for each"),
             cl::sub(sub)),
      ends("stage-ends", cl::CommaSeparated, cl::value_desc("node,..."),
           cl::desc("Nodes that stages end with; the model ends one stage "
                    "more"),
           cl::sub(sub)),
      microBatches("micro-batches", cl::init(1), cl::value_desc("number"),
                   cl::desc("With --stages: equal parts of a batch, along the "
                            "first dim of inputs, which go through the stages "
                            "one after the other (1)"),
                   cl::sub(sub)),
      schedule("pipeline", cl::value_desc("schedule|file.csv"),
               cl::desc("With --stages: the schedule of mlc schedule, or the "
                        "table in FILE.csv, whose forward passes the ranks run "
                        "(1f1b, or interleaved-1f1b if ranks have several "
                        "stages)"),
               cl::sub(sub)) {}

bool ForwardFlags::isGiven() const {
  return llvm::any_of(options(), [](const cl::Option *option) {
    return option->getNumOccurrences() > 0;
  });
}

llvm::SmallVector<const cl::Option *> ForwardFlags::options() const {
  // `&` of a cl::list is overloaded.
  return {&stages, std::addressof(ends), &microBatches, &schedule};
}

llvm::Error ForwardFlags::apply(runtime::Plan &plan) const {
  if (stages < 1)
    return fail(Exit::Usage, "--stages must be at least 1");
  if (stages.getNumOccurrences() && !ends.empty())
    return fail(Exit::Usage, "--stage-ends says how many stages there are; "
                             "leave --stages out");
  if (!stages.getNumOccurrences() && ends.empty())
    return fail(Exit::Usage, "micro-batches and a schedule are of stages, and "
                             "there is one; give --stages=N");
  if (schedule.getNumOccurrences() && schedule.empty())
    return fail(Exit::Usage, "--pipeline= names no schedule; see mlc schedule "
                             "--list");
  runtime::ForwardPlan &own = plan.forward.emplace();
  own.stages.ends.assign(ends.begin(), ends.end());
  own.stages.count = ends.empty() ? stages : int64_t(ends.size()) + 1;
  own.stages.schedule = schedule;
  own.microBatches = microBatches;
  return statusFailure(plan.setForwardMesh());
}

std::vector<std::string> mlc::cli::textsOf(const runtime::ForwardPlan &plan) {
  std::vector<std::string> texts;
  const runtime::StagePlan &stages = plan.stages;
  texts.push_back(stages.ends.empty()
                      ? "--stages=" + std::to_string(stages.count)
                      : "--stage-ends=" + llvm::join(stages.ends, ","));
  if (plan.microBatches != 1)
    texts.push_back("--micro-batches=" + std::to_string(plan.microBatches));
  if (!stages.schedule.empty())
    texts.push_back("--pipeline=" +
                    llvm::sys::path::filename(stages.schedule).str());
  return texts;
}
