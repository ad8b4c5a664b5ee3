//===- StepSchedule.cpp - The actions of a training step ------------------===//

#include "runtime/train/StepSchedule.h"
#include "runtime/ApiCall.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;
using schedule::ActionKind;

/// The entries that an action of a table runs: B is I and W where these are
/// apart.
static std::vector<size_t> entriesOf(const Stages &stages, int64_t stage,
                                     ActionKind kind) {
  std::vector<size_t> found;
  if (auto entry = stages.find(stage, kind))
    found.push_back(*entry);
  else if (kind == ActionKind::Backward)
    for (ActionKind part :
         {ActionKind::InputGradient, ActionKind::WeightGradient})
      if (auto entry = stages.find(stage, part))
        found.push_back(*entry);
  return found;
}

/// One batch after another.
static void addInTurn(const Stages &stages, int64_t batches,
                      StepSchedule &schedule) {
  auto add = [&](int64_t stage, ActionKind kind, int64_t batch) {
    for (size_t entry : entriesOf(stages, stage, kind))
      schedule.push_back({Action::Run, entry, batch});
  };
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t stage = 0; stage < stages.count(); ++stage)
      add(stage, ActionKind::Forward, batch);
    for (int64_t stage = stages.count(); stage-- > 0;)
      add(stage, ActionKind::Backward, batch);
  }
}

/// A run of an asynchronous table.
static Action makeVersioned(const Stages &stages,
                            const schedule::Action &action, size_t entry,
                            int64_t updates) {
  const schedule::StageVersions &all = stages.versions(action.stage);
  Action run{Action::Run, entry, std::nullopt, action.stage, action.stage};
  run.update = updates;
  if (action.kind == ActionKind::Step) {
    run.reads = all.slotOf[updates];
    run.writes = all.slotOf[updates + 1];
    return run;
  }
  run.batch = action.microBatch;
  run.update = all.updateOf[action.microBatch];
  // Without a number it is the newest.
  run.reads =
      all.slotOf[action.version == schedule::kNone ? updates : action.version];
  return run;
}

/// What the table has for the rank; updates only if it is asynchronous.
static void addTable(const Stages &stages, int rank, StepSchedule &schedule) {
  std::vector<uint8_t> isReduced(stages.count());
  // Once in a step, or before each update of an asynchronous table.
  auto reduce = [&](int64_t stage) {
    if (stages.ranksOf(stage).size() > 1 && stages.isOn(stage, rank) &&
        (stages.isAsynchronous() || !isReduced[stage]))
      schedule.push_back({Action::Reduce, 0, std::nullopt, stage, stage});
    isReduced[stage] = true;
  };
  std::vector<int64_t> updates(stages.count());
  for (const schedule::Action &action : stages.actions(rank)) {
    if (stages.isAsynchronous() && (action.kind == ActionKind::Step ||
                                    (schedule::isCompute(action.kind) &&
                                     schedule::hasMicroBatch(action.kind)))) {
      int64_t &done = updates[action.stage];
      for (size_t entry : entriesOf(stages, action.stage, action.kind))
        schedule.push_back(makeVersioned(stages, action, entry, done));
      done += action.kind == ActionKind::Step;
    } else if (schedule::isSend(action.kind) ||
               schedule::isReceive(action.kind)) {
      Action move{Action::Transfer, 0, action.microBatch, action.stage,
                  schedule::peerOf(action)};
      if (schedule::isReceive(action.kind))
        std::swap(move.from, move.to);
      schedule.push_back(move);
    } else if (action.kind == ActionKind::ReduceGradients) {
      reduce(action.stage);
    } else if (schedule::isCompute(action.kind) &&
               schedule::hasMicroBatch(action.kind)) {
      for (size_t entry : entriesOf(stages, action.stage, action.kind))
        schedule.push_back({Action::Run, entry, action.microBatch});
    }
  }
  for (int64_t stage = 0; !stages.isAsynchronous() && stage < stages.count();
       ++stage)
    reduce(stage);
}

StepSchedule train::makeStepSchedule(const Artifact &artifact,
                                     const Stages &stages, int rank) {
  StepSchedule made;
  if (stages.count() == 0) {
    const int64_t batches = artifact.training()->accumulate;
    for (int64_t batch = 0; batch < batches; ++batch)
      made.push_back({Action::Run, 0, batch});
    for (size_t i = 1; i < artifact.entryCount(); ++i)
      if (artifact.program(i).name == "apply")
        made.push_back({Action::Run, i});
    return made;
  }
  if (stages.hasTable())
    addTable(stages, rank, made);
  else
    addInTurn(stages, stages.countBatches(), made);
  if (stages.isAsynchronous())
    return made;
  for (size_t entry : stages.updates())
    made.push_back({stages.isOn(stages.entry(entry)->stage, rank)
                        ? Action::Run
                        : Action::Elsewhere,
                    entry});
  return made;
}

std::string train::toString(const StepSchedule &schedule,
                            const std::function<std::string(size_t)> &nameOf) {
  std::vector<Action> runs;
  for (const Action &action : schedule)
    if (action.kind == Action::Run)
      runs.push_back(action);
  std::string text;
  for (size_t i = 0, end = 0; i < runs.size(); i = end) {
    const Action &first = runs[i];
    for (end = i + 1; end < runs.size(); ++end)
      if (const Action &next = runs[end];
          !first.batch || !next.batch || next.entry != first.entry ||
          *next.batch != *first.batch + int64_t(end - i))
        break;
    text += (text.empty() ? "" : ", ") + nameOf(first.entry);
    if (first.batch)
      text +=
          "(" + std::to_string(*first.batch) +
          (end - i > 1 ? " to " + std::to_string(*runs[end - 1].batch) : "") +
          ")";
  }
  return text;
}

std::string train::scheduleText(const mlc_artifact &artifact) {
  const Artifact &own = *artifact.impl;
  if (const std::optional<Pipeline> &pipeline = own.pipeline())
    return std::to_string(pipeline->stages) + " stages, a batch in " +
           std::to_string(pipeline->microBatches) + " micro-batches" +
           (pipeline->schedule.empty()
                ? ", on one rank"
                : ", on several ranks, each with a line of this table\n" +
                      pipeline->schedule);
  if (!own.training())
    return {};
  if (!own.training()->schedule.empty())
    return std::to_string(own.training()->stages) +
           " stages on several ranks, each with a line of this table\n" +
           own.training()->schedule;
  Stages stages;
  // One rank needs no table, so this does not fail.
  (void)Stages::of(own, /*rank=*/0, /*ranks=*/1, /*isBuffered=*/true, stages);
  return toString(makeStepSchedule(own, stages, /*rank=*/0),
                  [&](size_t entry) { return own.program(entry).name; });
}
