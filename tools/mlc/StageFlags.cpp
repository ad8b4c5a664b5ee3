//===- StageFlags.cpp - The stages of a training step ---------------------===//

#include "tools/mlc/StageFlags.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/MeshFlags.h"
#include "tools/mlc/Remedies.h"
#include "llvm/ADT/StringExtras.h"
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
      replicas("replicas", cl::CommaSeparated, cl::value_desc("number,..."),
               cl::desc("Ranks of each stage, which share its micro-batches "
                        "in turn, with --pipeline=1f1b, gpipe, pipedream and "
                        "pipedream-2bw (1 each)"),
               cl::sub(sub)),
      updateEvery("update-every", cl::init(0), cl::value_desc("number"),
                  cl::desc("Gradients before an update, with "
                           "--pipeline=ampnet (1) and pipedream-2bw (as many "
                           "as ranks of stages)"),
                  cl::sub(sub)),
      inFlight("in-flight", cl::init(0), cl::value_desc("number"),
               cl::desc("Micro-batches under way at once, with "
                        "--pipeline=ampnet (as many as stages)"),
               cl::sub(sub)),
      slices("slices", cl::init(0), cl::value_desc("number"),
             cl::desc("With --pipeline=terapipe: slices of each sequence, the "
                      "second dim of inputs (1)"),
             cl::sub(sub)),
      recomputes("recompute",
                 cl::desc("With --stages: a backward pass computes again what "
                          "it needs of its stage's forward pass, which takes "
                          "less memory"),
                 cl::sub(sub)),
      keptResults("keep-results", cl::CommaSeparated,
                  cl::value_desc("node,..."),
                  cl::desc("With --recompute: nodes whose results stay in "
                           "memory all the same; NAME* names all that begin "
                           "so, and * stands for any characters"),
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
  return {&stages,   std::addressof(ends),  std::addressof(replicas),
          &schedule, &updateEvery,          &inFlight,
          &slices,   &recomputes,           std::addressof(keptResults),
          &mesh,     std::addressof(shards)};
}

llvm::Expected<std::optional<int64_t>> StageFlags::ranksOfMesh() const {
  if (mesh.getNumOccurrences() == 0 && !replicas.empty()) {
    runtime::StagePlan plan;
    if (llvm::Error error = setReplicas(plan))
      return std::move(error);
    return plan.ranks;
  }
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

llvm::Expected<std::vector<int64_t>>
mlc::cli::readReplicas(const cl::list<std::string> &texts) {
  std::vector<int64_t> counts;
  int64_t all = 0;
  for (llvm::StringRef text : texts) {
    int64_t count;
    if (text.getAsInteger(10, count) || count < 1 ||
        count > runtime::maxRanks - all)
      return fail(Exit::Usage,
                  "--replicas=" + llvm::join(texts, ",") +
                      ": expected the ranks of each stage, as 3,1, of which "
                      "there are up to " +
                      llvm::Twine(runtime::maxRanks));
    counts.push_back(count);
    all += count;
  }
  return counts;
}

/// Gives stages their ranks, of which --replicas has a number for each.
llvm::Error StageFlags::setReplicas(runtime::StagePlan &plan) const {
  auto counts = readReplicas(replicas);
  if (!counts)
    return counts.takeError();
  plan.places = runtime::StagePlan::placesOf(*counts);
  plan.ranks = 0;
  for (int64_t count : *counts)
    plan.ranks += count;
  return llvm::Error::success();
}

/// Sets the ranks of stages by --replicas, or as many as there are stages.
llvm::Error StageFlags::applyRanks(runtime::TrainingPlan &plan) const {
  if (replicas.empty()) {
    if (plan.isStaged() && !plan.hasServer)
      plan.stages.ranks = plan.stages.chooseRanks(plan.ranks);
    plan.ranks /= plan.stages.ranks;
    return llvm::Error::success();
  }
  const std::string given = "--replicas=" + llvm::join(replicas, ",");
  if (llvm::Error error = setReplicas(plan.stages))
    return error;
  if (static_cast<int64_t>(plan.stages.places.size()) != plan.stages.count)
    return fail(Exit::Usage,
                fmt::format("{} is of {} stages, and there {} {}; give a "
                            "number of ranks for each",
                            given, plan.stages.places.size(),
                            plan.stages.count == 1 ? "is" : "are",
                            plan.stages.count));
  if (plan.ranks % plan.stages.ranks)
    return fail(Exit::Usage,
                fmt::format("{} is of {} ranks, and there {} {}; {}", given,
                            plan.stages.ranks, plan.ranks == 1 ? "is" : "are",
                            plan.ranks, describeStart(plan.stages.ranks)));
  plan.ranks /= plan.stages.ranks;
  return llvm::Error::success();
}

/// Sets the mesh that is given.
llvm::Error StageFlags::applyMesh(runtime::Plan &whole) const {
  runtime::TrainingPlan &plan = *whole.training;
  const int64_t ranks = plan.countRanks();
  if (llvm::Error error = setMesh(whole))
    return error;
  if (const int64_t needed = plan.countRanks(); needed != ranks)
    return fail(Exit::Usage,
                fmt::format("--mesh={} is of {} rank{}, and there {} {}; {}",
                            mesh.getValue(), needed, needed == 1 ? "" : "s",
                            ranks == 1 ? "is" : "are", ranks,
                            describeStart(needed)));
  if (replicas.empty())
    return llvm::Error::success();
  // The rest is as without a mesh, which has to be the same.
  runtime::TrainingPlan own;
  own.stages.count = plan.stages.count;
  own.ranks = plan.ranks * plan.stages.ranks;
  if (llvm::Error error = applyRanks(own))
    return error;
  if (own.stages.ranks != plan.stages.ranks)
    return fail(Exit::Usage,
                fmt::format("--mesh={} has {} rank{} for stages, and "
                            "--replicas names {}; give stage={}",
                            mesh.getValue(), plan.stages.ranks,
                            plan.stages.ranks == 1 ? "" : "s", own.stages.ranks,
                            own.stages.ranks));
  plan.stages.places = std::move(own.stages.places);
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
  plan.stages.recomputes = recomputes;
  plan.stages.keptResults.assign(keptResults.begin(), keptResults.end());
  if (mesh.getNumOccurrences())
    return applyMesh(whole);
  if (!shards.empty())
    return fail(Exit::Usage, "--shard splits weights over axes of --mesh, and "
                             "there is none; give --mesh=data=N,AXIS=N");
  return applyRanks(plan);
}
