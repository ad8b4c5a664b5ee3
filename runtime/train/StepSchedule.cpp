//===- StepSchedule.cpp - The actions of a training step ------------------===//

#include "runtime/train/StepSchedule.h"
#include "runtime/ApiCall.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;

StepSchedule train::makeStepSchedule(const Artifact &artifact) {
  StepSchedule schedule;
  for (int64_t batch = 0; batch < artifact.training()->accumulate; ++batch)
    schedule.push_back({artifact.program(0).name, batch});
  for (size_t i = 1; i < artifact.entryCount(); ++i)
    if (artifact.program(i).name == "apply")
      schedule.push_back({"apply", std::nullopt});
  return schedule;
}

std::string train::toString(const StepSchedule &schedule) {
  std::string text;
  for (size_t i = 0, end = 0; i < schedule.size(); i = end) {
    const Action &first = schedule[i];
    for (end = i + 1; end < schedule.size(); ++end)
      if (const Action &next = schedule[end];
          !first.batch || !next.batch || next.entry != first.entry ||
          *next.batch != *first.batch + int64_t(end - i))
        break;
    text += (text.empty() ? "" : ", ") + first.entry;
    if (first.batch)
      text += "(" + std::to_string(*first.batch) +
              (end - i > 1 ? " to " + std::to_string(*schedule[end - 1].batch)
                           : "") +
              ")";
  }
  return text;
}

std::string train::scheduleText(const mlc_artifact &artifact) {
  return artifact.impl->training() ? toString(makeStepSchedule(*artifact.impl))
                                   : std::string();
}
