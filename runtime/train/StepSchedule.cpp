//===- StepSchedule.cpp - The actions of a training step ------------------===//

#include "runtime/train/StepSchedule.h"
#include "runtime/ApiCall.h"
#include "runtime/schedule/Table.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;
using schedule::ActionKind;

namespace {

/// Appends the entries of stages, as far as the artifact has them.
class StageSchedule {
public:
  explicit StageSchedule(const Artifact &artifact) : artifact(artifact) {}

  StepSchedule make() {
    const int64_t stages = artifact.training()->stages;
    for (int64_t batch = 0; batch < artifact.training()->accumulate; ++batch) {
      for (int64_t stage = 0; stage < stages; ++stage)
        add(stage, ActionKind::Forward, batch);
      for (int64_t stage = stages; stage-- > 0;)
        for (ActionKind kind : {ActionKind::Backward, ActionKind::InputGradient,
                                ActionKind::WeightGradient})
          add(stage, kind, batch);
    }
    // Norms of a stage may read those of later stages, updates those of earlier
    // ones.
    for (int64_t stage = stages; stage-- > 0;)
      add(stage, ActionKind::Norm, std::nullopt);
    for (int64_t stage = 0; stage < stages; ++stage)
      add(stage, ActionKind::Step, std::nullopt);
    return std::move(made);
  }

private:
  void add(int64_t stage, ActionKind kind, std::optional<int64_t> batch) {
    const std::string name = std::to_string(stage) + schedule::toText(kind);
    for (size_t i = 0; i < artifact.entryCount(); ++i)
      if (artifact.program(i).name == name)
        made.push_back({i, batch});
  }

  const Artifact &artifact;
  StepSchedule made;
};

} // namespace

StepSchedule train::makeStepSchedule(const Artifact &artifact) {
  if (artifact.training()->stages > 1)
    return StageSchedule(artifact).make();
  StepSchedule schedule;
  for (int64_t batch = 0; batch < artifact.training()->accumulate; ++batch)
    schedule.push_back({0, batch});
  for (size_t i = 1; i < artifact.entryCount(); ++i)
    if (artifact.program(i).name == "apply")
      schedule.push_back({i, std::nullopt});
  return schedule;
}

std::string train::toString(const Artifact &artifact,
                            const StepSchedule &schedule) {
  std::string text;
  for (size_t i = 0, end = 0; i < schedule.size(); i = end) {
    const Action &first = schedule[i];
    for (end = i + 1; end < schedule.size(); ++end)
      if (const Action &next = schedule[end];
          !first.batch || !next.batch || next.entry != first.entry ||
          *next.batch != *first.batch + int64_t(end - i))
        break;
    text += (text.empty() ? "" : ", ") + artifact.program(first.entry).name;
    if (first.batch)
      text += "(" + std::to_string(*first.batch) +
              (end - i > 1 ? " to " + std::to_string(*schedule[end - 1].batch)
                           : "") +
              ")";
  }
  return text;
}

std::string train::scheduleText(const mlc_artifact &artifact) {
  return artifact.impl->training()
             ? toString(*artifact.impl, makeStepSchedule(*artifact.impl))
             : std::string();
}
