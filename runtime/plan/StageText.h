//===- StageText.h - The stages of a plan as JSON ---------------*- C++ -*-===//

#ifndef MLC_RUNTIME_PLAN_STAGETEXT_H
#define MLC_RUNTIME_PLAN_STAGETEXT_H

#include "runtime/plan/Json.h"
#include "runtime/plan/Plan.h"

namespace mlc::runtime {

/// {"data": 2, "stage": 4}.
std::string meshText(const std::vector<MeshAxis> &mesh);

/// The value of "stages" in a plan of several: their number, or what each ends
/// with, its ranks and its mesh.
std::string stagesText(const TrainingPlan &plan);

/// Reads that value into `plan`, which trains or has stages of a model, and
/// whose mesh is known. Errors name the stage and
/// the key.
Status readStages(const json::Value &value, Plan &plan);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_STAGETEXT_H
