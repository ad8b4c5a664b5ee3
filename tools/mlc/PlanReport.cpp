//===- PlanReport.cpp - What mlc plan prints ------------------------------===//

#include "tools/mlc/PlanReport.h"
#include "simulator/timeline/Pictures.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace mlc::cli;
using namespace mlc::simulator;
namespace json = llvm::json;

/// "interleaved-1f1b of 4 stages on 2 ranks, 2 copies", "1f1b of 2 stages on
/// 3-1 ranks".
static std::string describePlan(const PlannedStep &step) {
  const mlc::runtime::TrainingPlan &plan = *step.plan.training;
  const mlc::runtime::StagePlan &stages = plan.stages;
  std::string zero =
      plan.zero == mlc::runtime::ZeroStage::None
          ? ""
          : fmt::format(", ZeRO-{}", static_cast<int>(plan.zero));
  if (stages.recomputes)
    zero += ", computing again";
  if (!plan.axes.empty() && stages.ranks < 2) {
    std::string mesh;
    for (const mlc::runtime::MeshAxis &axis : plan.mesh())
      mesh +=
          fmt::format("{}{}={}", mesh.empty() ? "" : ",", axis.name, axis.size);
    return "shardings over " + mesh + zero;
  }
  for (const mlc::runtime::MeshAxis &axis : plan.axes)
    zero = fmt::format(", weights in {} parts", axis.size) + zero;
  if (stages.isOutermost)
    zero += ", stages outermost";
  if (stages.ranks < 2)
    return step.schedule() + zero;
  std::string ranks;
  for (const std::vector<int64_t> &having : stages.places)
    ranks += (ranks.empty() ? "" : "-") + std::to_string(having.size());
  return fmt::format("{} of {} stages on {} ranks", step.schedule(),
                     stages.count,
                     ranks.empty() ? std::to_string(stages.ranks) : ranks) +
         (plan.ranks > 1 ? fmt::format(", {} copies", plan.ranks) : "") + zero;
}

static std::string titleOf(const PlannedStep &step) {
  return (step.strategy.empty() ? "" : step.strategy + ": ") +
         describePlan(step);
}

std::string mlc::cli::roundedBytes(int64_t bytes) {
  double value = double(bytes);
  const char *units[] = {"bytes", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  return fmt::format("{:.3g} {}", value, units[unit]);
}

void mlc::cli::printPlans(const PipelinePlans &plans) {
  std::vector<std::pair<std::string, const PlannedStep *>> rows;
  size_t width = 0;
  for (const PlannedStep &step : plans.steps) {
    const std::string name = titleOf(step);
    if (llvm::any_of(rows, [&](const auto &row) { return row.first == name; }))
      continue;
    rows.push_back({name, &step});
    width = std::max(width, name.size());
  }
  llvm::outs() << fmt::format("{:<{}}  micro-batches       step     idle"
                              "      sent    memory\n",
                              "plan", width);
  for (const auto &[name, step] : rows)
    llvm::outs() << fmt::format(
        "{:<{}}  {:>13} {:>10} {:>6.1f} % {:>9} {:>9}{}{}\n", name, width,
        step->plan.training->accumulate, toText(step->span), 100 * step->idle,
        roundedBytes(step->sent), roundedBytes(step->memory),
        step->fits ? "" : ", too much",
        step->isSimulated ? "" : " (by blocks)");
}

json::Object mlc::cli::toJson(const PlannedStep &step) {
  const mlc::runtime::TrainingPlan &plan = *step.plan.training;
  json::Array replicas;
  for (const std::vector<int64_t> &having : plan.stages.places)
    replicas.push_back(int64_t(having.size()));
  return json::Object{
      {"strategy", step.strategy},
      {"schedule", step.schedule()},
      {"copies", plan.ranks},
      {"zero", static_cast<int64_t>(plan.zero)},
      {"parts", plan.axes.empty() ? int64_t(1) : int64_t(plan.axes[0].size)},
      {"stages_outermost", plan.stages.isOutermost},
      {"recompute", plan.stages.recomputes},
      {"stages", plan.stages.count},
      {"stage_ends", json::Array(plan.stages.ends)},
      {"ranks_of_a_copy", plan.stages.ranks},
      {"replicas", std::move(replicas)},
      {"micro_batches", plan.accumulate},
      {"batch", step.batch},
      {"seconds", toSeconds(step.span)},
      {"idle", step.idle},
      {"sent_bytes", step.sent},
      {"memory_bytes", step.memory},
      {"fits", step.fits},
      {"simulated", step.isSimulated}};
}

void mlc::cli::printBest(const PipelinePlans &plans,
                         const std::string &cluster) {
  const PlannedStep &best = plans.steps.front();
  const mlc::runtime::TrainingPlan &plan = *best.plan.training;
  llvm::outs() << fmt::format(
      "{} on {}: {} a step of {} micro-batches of {} samples, idle {:.1f} %, "
      "{} of memory\n",
      titleOf(best), cluster, toText(best.span), plan.accumulate, best.batch,
      100 * best.idle, roundedBytes(best.memory));
  if (!plan.stages.ends.empty())
    llvm::outs() << "stages end with " << llvm::join(plan.stages.ends, ", ")
                 << '\n';
  if (plans.onOneRank && plans.onOneRank < best.span)
    llvm::outs() << "one rank alone computes for " << toText(plans.onOneRank)
                 << "; plan for fewer ranks\n";
  if (plans.bound && plans.bound <= best.span)
    llvm::outs() << fmt::format(
        "no pipeline of these {} blocks takes less than {} ({:+.1f} %); {} "
        "steps were simulated\n",
        plans.blocks, toText(plans.bound),
        100 * (toSeconds(best.span) / toSeconds(plans.bound) - 1),
        plans.timelines);
}

json::Object mlc::cli::toJson(const PipelinePlans &plans,
                              const std::string &cluster) {
  json::Array steps;
  for (const PlannedStep &step : plans.steps)
    steps.push_back(toJson(step));
  return json::Object{{"cluster", cluster},
                      {"bound_seconds", toSeconds(plans.bound)},
                      {"seconds_on_one_rank", toSeconds(plans.onOneRank)},
                      {"blocks", int64_t(plans.blocks)},
                      {"timelines", plans.timelines},
                      {"plans", std::move(steps)}};
}
