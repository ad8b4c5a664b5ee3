//===- WeightVersions.cpp - Versions of the weights of stages -------------===//

#include "runtime/train/WeightVersions.h"
#include "runtime/Text.h"

using namespace mlc::runtime;
using namespace mlc::runtime::train;

/// The state by that name that is of the same type.
static std::optional<size_t> findOwner(const Artifact &artifact,
                                       const State &next) {
  const std::vector<State> &states = artifact.states();
  for (size_t i = 0; i < states.size(); ++i)
    if (states[i].name == next.owner && states[i].role != StateRole::Next &&
        states[i].type == next.type && states[i].dims == next.dims)
      return i;
  return std::nullopt;
}

Status WeightVersions::open(const Artifact &artifact, const Stages &stages,
                            int rank, SharedStates &shared) {
  states = &shared;
  for (size_t next = 0; next < artifact.states().size(); ++next) {
    const State &what = artifact.states()[next];
    if (what.role != StateRole::Next)
      continue;
    const std::optional<size_t> state = findOwner(artifact, what);
    std::optional<int64_t> stage;
    for (size_t entry = 0; entry < artifact.entryCount(); ++entry)
      if (stages.isAsynchronous() && stages.entry(entry) &&
          artifact.stateUse(entry).writes[next])
        stage = stages.entry(entry)->stage;
    if (!state || !stage || stages.versions(*stage).slots < 2)
      return Status::badFile("the artifact is damaged: '" +
                             printable(what.name) +
                             "' is the next version of nothing");
    pairs.emplace_back(*state, next);
    if (!stages.isOn(*stage, rank))
      continue;
    const schedule::StageVersions &versions = stages.versions(*stage);
    if (Status status = shared.addSlots(*state, next, versions.slots);
        !status.ok())
      return status;
    extraBytes += (versions.slots - 1) * shared.size(*state);
    all.push_back({*stage, *state, next, versions.slotOf.back()});
  }
  return Status::success();
}

void WeightVersions::choose(const Action &action) {
  for (const Kept &kept : all) {
    if (kept.stage != action.from)
      continue;
    states->chooseSlot(kept.state, kept.state, action.reads);
    if (!action.batch)
      states->chooseSlot(kept.next, kept.state, action.writes);
  }
}

void WeightVersions::finish() {
  for (const Kept &kept : all) {
    states->exchangeSlots(kept.state, 0, kept.newest);
    states->chooseSlot(kept.state, kept.state, 0);
  }
}

std::optional<size_t> WeightVersions::nextOf(size_t state) const {
  for (const auto &[own, next] : pairs)
    if (own == state)
      return next;
  return std::nullopt;
}
