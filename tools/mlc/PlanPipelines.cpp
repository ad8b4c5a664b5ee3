//===- PlanPipelines.cpp - Plans that run a model in stages ---------------===//

#include "tools/mlc/PlanPipelines.h"
#include "planner/strategies/Strategies.h"
#include "tools/mlc/DeviceCosts.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/PipelineForms.h"
#include <fmt/format.h>
#include <set>

using namespace mlc;
using namespace mlc::cli;
using namespace mlc::planner;
using namespace mlc::simulator;

/// So many of the best pipelines are simulated as they are.
static constexpr size_t simulatedPlans = 3;

/// So many steps are simulated about, if something fits.
static constexpr int64_t mostTimelines = 6000;

/// Where to cut is searched for where that may give the best plan: it rarely
/// gains as much.
static Time worthOf(Time bestSpan) {
  return bestSpan == kLongestTime ? bestSpan : bestSpan / 4 * 5;
}

std::string PlannedStep::schedule() const {
  const runtime::StagePlan &stages = plan.training->stages;
  if (stages.ranks > 1)
    return stages.schedule;
  const auto count = plan.training->countRanks();
  if (!plan.training->axes.empty())
    return "shardings";
  return count > 1 ? "data parallel" : "one rank";
}

llvm::Error mlc::cli::simulateStep(const PipelineRequest &request,
                                   PlannedStep &step, ArenaSource arenas) {
  auto done = cli::simulate({request.model, request.training, request.optimizer,
                             step.batch, step.plan, request.cluster, arenas});
  if (!done)
    return done.takeError();
  step.plan = done->plan;
  step.span = done->timeline.span;
  step.idle = done->timeline.idle().value();
  step.sent = *llvm::max_element(done->sent);
  step.memory = 0;
  for (const RankMemory &memory : done->memory)
    step.memory = std::max(step.memory, memory.parts().total());
  step.fits = !llvm::errorToBool(checkCapacity(*done));
  step.isSimulated = true;
  return llvm::Error::success();
}

namespace {

class PipelineSearch {
public:
  PipelineSearch(const PipelineRequest &request, const Cluster &cluster)
      : request(request), network(cluster), forms(request, network) {}

  llvm::Expected<PipelinePlans> run();

private:
  llvm::Error evaluate(const Candidate &way, int64_t budget);
  llvm::Error addPipelines();
  void addPipeline(const Form &form, const Blocks &blocks,
                   const PipelineChoice &choice);
  llvm::Error addDataParallel();
  llvm::Error addZero();
  llvm::Error simulateBest();
  runtime::Plan planOf(const Form &form);

  const PipelineRequest &request;
  const Network network;
  PipelineForms forms;
  Time bestSpan = kLongestTime; ///< of what fits
  PipelinePlans found;
};

} // namespace

/// The plan of one stage.
runtime::Plan PipelineSearch::planOf(const Form &form) {
  runtime::Plan plan;
  plan.training.emplace();
  plan.training->ranks = form.copies;
  plan.training->accumulate = form.microBatches;
  plan.training->zero = runtime::ZeroStage(form.zero);
  if (form.parts > 1) {
    plan.training->axes = {{kTensorAxis, static_cast<uint32_t>(form.parts)}};
    if (auto split = forms.blockReader().shardings(form.parts, 0))
      plan.shardings = **split;
    else
      llvm::consumeError(split.takeError());
  }
  return plan;
}

void PipelineSearch::addPipeline(const Form &form, const Blocks &blocks,
                                 const PipelineChoice &choice) {
  PlannedStep step;
  step.plan = planOf(form);
  runtime::StagePlan &stages = step.plan.training->stages;
  std::vector<size_t> ends = choice.ends;
  if (form.places == 1 && form.recomputes) {
    // One rank computes again in the stages that it runs in turn.
    ends.clear();
    for (size_t end = 1; end <= blocks.ends.size() + 1; ++end)
      ends.push_back(end);
  }
  stages.count = int64_t(ends.size());
  stages.ranks = form.places;
  stages.isOutermost = form.isOutermost && form.places > 1;
  if (form.places > 1)
    stages.schedule = choice.schedule;
  if (!choice.replicas.empty())
    stages.places = runtime::StagePlan::placesOf(choice.replicas);
  for (size_t end : llvm::ArrayRef(ends).drop_back())
    stages.ends.push_back(blocks.ends[end - 1]);
  stages.recomputes = form.recomputes;
  if (form.recomputes)
    stages.keptResults = blocks.kept(ends);
  // What plans refuse, such as versions beside copies.
  if (!step.plan.check().ok())
    return;
  step.batch = forms.samples() / form.microBatches;
  step.span = choice.span;
  step.idle = choice.idle;
  step.memory = choice.memory;
  step.sent = choice.sent;
  step.fits = choice.excess == 0;
  found.steps.push_back(std::move(step));
}

llvm::Error PipelineSearch::evaluate(const Candidate &way, int64_t budget) {
  auto read = forms.blocksOf(way.form);
  if (!read)
    return read.takeError();
  const Blocks again = way.form.recomputes ? (*read)->recomputing() : Blocks();
  const Blocks &blocks = way.form.recomputes ? again : **read;
  // Where the plan itself needs more than its blocks say, it is made anew.
  double margin = 1;
  for (int trial = 0; trial < 2; ++trial) {
    PipelineProblem problem = forms.problemOf(way.form, blocks);
    problem.margin = margin;
    PipelinePlanner planner(problem, budget);
    PipelineChoice choice;
    const Time worth = worthOf(bestSpan);
    const size_t before = found.steps.size();
    // Some schedules need other numbers of ranks, stages or micro-batches.
    if ((way.stages < 0
             ? planner.plan(way.schedule, way.chunks, worth, choice)
             : planner.planReplicas(way.schedule, way.stages, worth, choice))
            .ok())
      addPipeline(way.form, blocks, choice);
    found.timelines += planner.countTimelines();
    if (found.steps.size() == before)
      return llvm::Error::success();
    PlannedStep &step = found.steps.back();
    if (!step.fits || step.span >= bestSpan)
      return llvm::Error::success();
    const auto estimated = double(step.memory);
    if (llvm::Error error = simulateStep(request, step, ArenaSource::Operators))
      return error;
    if (step.fits) {
      bestSpan = std::min(bestSpan, step.span);
      return llvm::Error::success();
    }
    margin =
        std::min(2.0, 1.01 * double(step.memory) / std::max(estimated, 1.0));
  }
  return llvm::Error::success();
}

/// Candidates in the order of what they take at least, as long as that is less
/// than the best takes.
llvm::Error PipelineSearch::addPipelines() {
  auto all = forms.candidates();
  if (!all)
    return all.takeError();
  const double most = forms.largestMemory();
  llvm::stable_sort(*all, [&](const Candidate &a, const Candidate &b) {
    // What cannot fit comes last, the one that needs least first.
    return std::pair(std::max(a.memory, most), a.span) <
           std::pair(std::max(b.memory, most), b.span);
  });
  std::set<std::string> tried;
  for (const Candidate &way : *all) {
    const bool mayFit = way.memory <= most;
    // Of each schedule one is tried, for people to compare.
    const bool isFirst =
        mayFit && way.form.places > 1 && !tried.count(way.schedule);
    // Until something fits, all that may is tried.
    const bool mayBeBest = mayFit ? (found.timelines < mostTimelines ||
                                     bestSpan == kLongestTime) &&
                                        way.span < double(bestSpan)
                                  : found.steps.empty();
    if (!isFirst && !mayBeBest)
      continue;
    const size_t before = found.steps.size();
    if (llvm::Error error = evaluate(way, mayFit ? request.budget : 1))
      return error;
    if (way.form.places > 1 && found.steps.size() > before)
      tried.insert(way.schedule);
  }
  return llvm::Error::success();
}

bool mlc::cli::isBetter(const PlannedStep &a, const PlannedStep &b) {
  // Of what does not fit, what comes nearest.
  if (!a.fits && !b.fits)
    return a.memory < b.memory;
  return std::pair(!a.fits, a.span) < std::pair(!b.fits, b.span);
}

/// All ranks share the batch, in as few micro-batches, and with as little of
/// ZeRO, as memory allows.
llvm::Error PipelineSearch::addDataParallel() {
  for (int zero = 0; zero <= (request.ranks > 1 ? 3 : 0); ++zero)
    for (int64_t count : forms.counts()) {
      const int64_t samples = forms.samples();
      if (samples / count < request.ranks)
        continue;
      PlannedStep step;
      Form form;
      form.copies = request.ranks;
      form.microBatches = count;
      form.zero = zero;
      auto blocks = forms.blockReader().read(
          samples % (count * request.ranks) ? 0
                                            : samples / count / request.ranks,
          1);
      if (!blocks)
        return blocks.takeError();
      if (!forms.mayFit((*blocks)->memory.share(zero, request.ranks)))
        continue;
      step.plan = planOf(form);
      step.batch = samples / count;
      if (llvm::Error error =
              simulateStep(request, step, ArenaSource::Operators))
        return error;
      found.steps.push_back(step);
      if (!step.fits)
        continue;
      bestSpan = std::min(bestSpan, step.span);
      return llvm::Error::success();
    }
  return llvm::Error::success();
}

/// Where no pipeline fits, copies of the fastest share their states too.
llvm::Error PipelineSearch::addZero() {
  llvm::stable_sort(found.steps, isBetter);
  if (found.steps.empty() || found.steps.front().fits)
    return llvm::Error::success();
  std::vector<PlannedStep> shared;
  for (const PlannedStep &step : found.steps)
    if (step.copies() > 1 && step.plan.training->stages.ranks > 1 &&
        shared.size() < simulatedPlans)
      shared.push_back(step);
  for (PlannedStep &step : shared)
    for (int zero = 1; zero <= 3; ++zero) {
      step.plan.training->zero = runtime::ZeroStage(zero);
      if (!step.plan.check().ok())
        continue;
      if (llvm::Error error =
              simulateStep(request, step, ArenaSource::Operators))
        return error;
      if (step.fits || zero == 3)
        found.steps.push_back(step);
      if (step.fits)
        break;
    }
  return llvm::Error::success();
}

llvm::Error PipelineSearch::simulateBest() {
  llvm::stable_sort(found.steps, isBetter);
  for (size_t i = 0; i < std::min(simulatedPlans, found.steps.size()); ++i)
    if (!found.steps[i].isSimulated)
      if (llvm::Error error =
              simulateStep(request, found.steps[i], ArenaSource::Operators))
        return error;
  llvm::stable_sort(found.steps, isBetter);
  // Estimates of memory may be wrong where it is tight.
  for (size_t i = 0; i < found.steps.size() && found.steps[i].fits; ++i) {
    if (llvm::Error error =
            simulateStep(request, found.steps[i], ArenaSource::Kernels))
      return error;
    if (found.steps[i].fits)
      break;
  }
  llvm::stable_sort(found.steps, isBetter);
  return llvm::Error::success();
}

llvm::Expected<PipelinePlans> PipelineSearch::run() {
  if (llvm::Error error = forms.findSizes())
    return std::move(error);
  if (llvm::Error error = addDataParallel())
    return std::move(error);
  if (llvm::Error error = addPipelines())
    return std::move(error);
  found.bound = forms.bound();
  found.onOneRank = forms.timeOnOneRank();
  found.blocks = forms.countBlocks();
  if (llvm::Error error = addZero())
    return std::move(error);
  if (found.steps.empty())
    return fail(Exit::Usage,
                fmt::format("{}: no schedule runs {} samples on {} ranks; give "
                            "other numbers of ranks, samples or micro-batches",
                            request.model.model, forms.samples(),
                            request.ranks));
  if (llvm::Error error = simulateBest())
    return std::move(error);
  return std::move(found);
}

llvm::Expected<PipelinePlans>
mlc::cli::planPipelines(const PipelineRequest &request,
                        const Cluster &cluster) {
  takeTarget(cluster, request.model);
  return PipelineSearch(request, cluster).run();
}

llvm::Error mlc::cli::addPlans(const PipelineRequest &request,
                               std::vector<runtime::Plan> plans,
                               PipelinePlans &found) {
  int64_t samples = request.samples;
  if (!samples && !found.steps.empty())
    samples = found.steps.front().batch *
              found.steps.front().plan.training->accumulate;
  for (runtime::Plan &plan : plans) {
    PlannedStep step;
    step.plan = std::move(plan);
    step.batch = samples / step.plan.training->accumulate;
    if (llvm::Error error = simulateStep(request, step, ArenaSource::Operators))
      return error;
    found.steps.push_back(std::move(step));
  }
  llvm::stable_sort(found.steps, isBetter);
  return llvm::Error::success();
}
