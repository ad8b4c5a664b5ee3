//===- StageText.cpp - The stages of a plan as JSON -----------------------===//

#include "runtime/plan/StageText.h"
#include "runtime/Text.h"
#include "runtime/plan/StagePlaces.h"

#include <algorithm>

namespace mlc::runtime {

std::string meshText(const std::vector<MeshAxis> &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh)
    text += (text.empty() ? "" : ", ") + jsonString(axis.name) + ": " +
            std::to_string(axis.size);
  return "{" + text + "}";
}

/// The mesh of a stage: axes over which it splits samples count as data.
static std::string meshOfStage(const TrainingPlan &plan, size_t stage) {
  std::vector<MeshAxis> mesh = {{kDataAxis, static_cast<uint32_t>(plan.ranks)}};
  const std::vector<std::string> &batch = plan.stages.batchAxes[stage];
  for (const MeshAxis &axis : plan.axes)
    if (std::find(batch.begin(), batch.end(), axis.name) != batch.end())
      mesh[0].size *= axis.size;
    else
      mesh.push_back(axis);
  return meshText(mesh);
}

std::string stagesText(const TrainingPlan &training) {
  const StagePlan &plan = training.stages;
  if (plan.ends.empty() && plan.places.empty() && plan.batchAxes.empty())
    return std::to_string(plan.count);
  std::string all;
  for (size_t i = 0; i < static_cast<size_t>(plan.count); ++i) {
    std::string keys;
    auto add = [&](const char *key, const std::string &value) {
      keys += (keys.empty() ? "" : ", ") + jsonString(key) + ": " + value;
    };
    if (i < plan.ends.size())
      add("until", jsonString(plan.ends[i]));
    if (i < plan.places.size())
      add("ranks", jsonString(ranksText(plan.places[i])));
    if (i < plan.batchAxes.size())
      add("mesh", meshOfStage(training, i));
    all += (i ? ", {" : "{") + keys + "}";
  }
  return "[" + all + "]";
}

static Status expected(const char *what, const json::Value &value) {
  return Status::badFile(std::string("expected ") + what + ", not " +
                         value.kind());
}

/// The mesh of a stage has axes of the plan's; over those that it does not
/// name, its samples are split.
static Status readStageMesh(const json::Value &value, Plan &plan) {
  const auto *axes = value.get<json::Object>();
  if (!axes)
    return expected("an object, {\"data\": RANKS}", value);
  if (!plan.training)
    return Status::badFile("meshes of stages are of training; leave it out");
  TrainingPlan &training = *plan.training;
  if (plan.mesh.empty())
    return Status::badFile("is of a part of the plan's ranks, and the plan "
                           "has no \"mesh\"; give it one");
  int64_t data = 0;
  std::vector<std::string> &batch = training.stages.batchAxes.emplace_back();
  for (const MeshAxis &axis : training.axes)
    if (axis.size > 1)
      batch.push_back(axis.name);
  for (const auto &[name, size] : *axes) {
    const auto *ranks = size.get<int64_t>();
    if (!ranks)
      return expected("a whole number of ranks", size);
    auto axis = std::find_if(
        training.axes.begin(), training.axes.end(),
        [&, &own = name](const MeshAxis &one) { return one.name == own; });
    if (name == kDataAxis)
      data = *ranks;
    else if (axis == training.axes.end() || *ranks != axis->size)
      return Status::badFile(
          jsonString(name) + " of " + std::to_string(*ranks) +
          (axis == training.axes.end()
               ? " is no axis of the plan's mesh behind \"stage\""
               : " is of " + std::to_string(axis->size) +
                     " in the plan's mesh") +
          "; name axes that are there, as they are, or leave them out to "
          "split samples over them");
    else
      batch.erase(std::remove(batch.begin(), batch.end(), name), batch.end());
  }
  int64_t needed = training.ranks;
  for (const MeshAxis &axis : training.axes)
    if (std::find(batch.begin(), batch.end(), axis.name) != batch.end())
      needed *= axis.size;
  return data == needed
             ? Status::success()
             : Status::badFile(
                   "its ranks split samples into " + std::to_string(needed) +
                   ": over \"data\" of the plan's mesh, and the axes that "
                   "the stage does not name; give \"data\": " +
                   std::to_string(needed));
}

static StagePlan &stagesOf(Plan &plan) {
  return plan.training ? plan.training->stages : plan.forward->stages;
}

static Status readStage(size_t index, size_t count, const json::Object &stage,
                        Plan &plan) {
  StagePlan &stages = stagesOf(plan);
  const bool isLast = index + 1 == count;
  bool hasEnd = false;
  for (const auto &[key, value] : stage) {
    const auto *text = value.get<std::string>();
    if (key == "until" && isLast)
      return Status::badFile("is the last and ends with the model; leave "
                             "\"until\" out");
    if (key != "until" && key != "ranks" && key != "mesh")
      return Status::badFile("has " + jsonString(key) +
                             ", which is no key of a stage; there are "
                             "until, ranks, mesh");
    if (key == "mesh") {
      if (Status status = readStageMesh(value, plan); !status.ok())
        return Status::badFile("has \"mesh\": " + status.message);
      continue;
    }
    if (!text)
      return Status::badFile("has " + jsonString(key) +
                             ": expected a string, not " + value.kind());
    hasEnd |= key == "until";
    if (key == "until")
      stages.ends.push_back(*text);
    else if (Status status = parseRanks(*text, stages.places.emplace_back());
             !status.ok())
      return Status::badFile("has \"ranks\": " + status.message);
  }
  // Without ends stages are made equally heavy, if none has one.
  if (!isLast && !hasEnd &&
      (!stages.ends.empty() ||
       (stages.places.empty() && stages.batchAxes.empty())))
    return Status::badFile("is until no node; give {\"until\": NODE}");
  if (!isLast && hasEnd && stages.ends.size() != index + 1)
    return Status::badFile("is until a node, and the stages before are not; "
                           "give {\"until\": NODE} to each");
  return Status::success();
}

/// Their number, or a list of what the stages are until; the last is until
/// the end.
Status readStages(const json::Value &value, Plan &plan) {
  StagePlan &stages = stagesOf(plan);
  if (const auto *number = value.get<int64_t>()) {
    stages.count = *number;
    return Status::success();
  }
  const auto *list = value.get<json::Array>();
  if (!list || list->empty())
    return expected("a number, or a list of stages, [{\"until\": NODE}, {}]",
                    value);
  for (size_t i = 0; i < list->size(); ++i) {
    const auto *stage = (*list)[i].get<json::Object>();
    if (!stage)
      return expected("a stage, {\"until\": NODE}", (*list)[i]);
    Status status = readStage(i, list->size(), *stage, plan);
    if (!status.ok())
      return Status::badFile("stage " + std::to_string(i) + " " +
                             status.message);
  }
  stages.count = static_cast<int64_t>(list->size());
  if (!stages.places.empty() && stages.places.size() != list->size())
    return Status::badFile("stages name \"ranks\", and not all do; name "
                           "those of each, or of none");
  if (!stages.batchAxes.empty() && stages.batchAxes.size() != list->size())
    return Status::badFile("stages have \"mesh\", and not all do; give one "
                           "to each, or to none");
  // Then all have the plan's.
  if (std::all_of(stages.batchAxes.begin(), stages.batchAxes.end(),
                  [](const auto &axes) { return axes.empty(); }))
    stages.batchAxes.clear();
  return Status::success();
}

} // namespace mlc::runtime
