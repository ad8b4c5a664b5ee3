//===- StageFlags.cpp - The stages of a training step ---------------------===//

#include "tools/mlc/StageFlags.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MeshFlags.h"
#include "tools/mlc/Remedies.h"
#include <fmt/format.h>

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
               cl::sub(sub)),
      updateEvery("update-every", cl::init(0), cl::value_desc("number"),
                  cl::desc("Gradients before an update, with "
                           "--pipeline=ampnet (1) and pipedream-2bw (as many "
                           "as stages)"),
                  cl::sub(sub)),
      inFlight("in-flight", cl::init(0), cl::value_desc("number"),
               cl::desc("Micro-batches under way at once, with "
                        "--pipeline=ampnet (as many as stages)"),
               cl::sub(sub)),
      slices("slices", cl::init(0), cl::value_desc("number"),
             cl::desc("With --pipeline=terapipe: slices of each sequence, the "
                      "second dim of inputs (1)"),
             cl::sub(sub)),
      mesh("mesh", cl::value_desc("axis=N,..."),
           cl::desc("The ranks: data=N splits the batch, stage=N runs the "
                    "stages, further axes split weights as --shard says "
                    "(docs/DataParallel.md) (as many ranks as stages run "
                    "these, others split the batch)"),
           cl::sub(sub)),
      shards("shard", cl::value_desc("name=axis,..."),
             cl::desc("Split the dims of this weight or input, and of what "
                      "belongs to it, over axes of --mesh: an axis for each "
                      "dim, or - for a dim that is whole, as further dims are; "
                      "* stands for any characters, and of several patterns "
                      "that fit a tensor the last counts"),
             cl::sub(sub)) {}

llvm::SmallVector<const cl::Option *> StageFlags::options() const {
  return {&stages,   std::addressof(ends),
          &schedule, &updateEvery,
          &inFlight, &slices,
          &mesh,     std::addressof(shards)};
}

llvm::Expected<std::optional<int64_t>> StageFlags::ranksOfMesh() const {
  if (mesh.getNumOccurrences() == 0)
    return std::nullopt;
  runtime::Plan plan;
  plan.training.emplace();
  if (llvm::Error error = setMesh(plan))
    return std::move(error);
  return plan.training->countRanks();
}

llvm::Error StageFlags::setMesh(runtime::Plan &plan) const {
  if (llvm::Error error = addAxes(mesh, plan))
    return error;
  if (auto status = plan.setTrainingMesh(); !status.ok())
    return fail(Exit::Usage, "--mesh=" + mesh + ": " + status.message);
  for (const std::string &text : shards)
    if (llvm::Error error = addSharding(text, mesh, plan))
      return error;
  plan.mesh.clear();
  return llvm::Error::success();
}

llvm::Error StageFlags::apply(runtime::Plan &whole) const {
  runtime::TrainingPlan &plan = *whole.training;
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
  for (const cl::opt<int64_t> *size : {&updateEvery, &inFlight, &slices})
    if (size->getNumOccurrences() && *size < 1)
      return fail(Exit::Usage, "--" + size->ArgStr + " must be at least 1");
  plan.stages.updateEvery = updateEvery;
  plan.stages.inFlight = inFlight;
  plan.stages.slices = slices;
  if (mesh.getNumOccurrences()) {
    const int64_t ranks = plan.countRanks();
    if (llvm::Error error = setMesh(whole))
      return error;
    if (const int64_t needed = plan.countRanks(); needed != ranks)
      return fail(Exit::Usage,
                  fmt::format("--mesh={} is of {} rank{}, and there {} {}; {}",
                              mesh.getValue(), needed, needed == 1 ? "" : "s",
                              ranks == 1 ? "is" : "are", ranks,
                              describeStart(needed)));
    return llvm::Error::success();
  }
  if (!shards.empty())
    return fail(Exit::Usage, "--shard splits weights over axes of --mesh, and "
                             "there is none; give --mesh=data=N,AXIS=N");
  if (plan.isStaged() && !plan.hasServer) {
    plan.stages.ranks = plan.stages.chooseRanks(plan.ranks);
    plan.ranks /= plan.stages.ranks;
  }
  return llvm::Error::success();
}
