//===- StepEntries.cpp - The entries of a step, ready to run --------------===//

#include "runtime/train/StepEntries.h"
#include "runtime/ApiCall.h"
#include "runtime/Text.h"

#include <algorithm>
#include <cstring>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Status StepEntries::addInputs(const TrainingProgram &program,
                              const Group &ranks, int64_t count) {
  artifact = &program.artifact();
  training = &program.training();
  group = ranks;
  const bool isBuffered = !group.get() || !group.get()->ordersMessages();
  if (Status status =
          Stages::of(*artifact, group.rank(), group.size(), isBuffered, stages);
      !status.ok())
    return status;
  for (const SamplePort &sample : training->samples) {
    std::vector<int64_t> dims = sample.dims;
    dims[0] = count;
    for (size_t i = 1; i < dims.size(); ++i)
      if (dims[i] < 0)
        return Status::error(
            MLC_USAGE, "input '" + printable(sample.name) +
                           "' has open dims: " + printable(sample.texts[i]) +
                           "; give their sizes");
    HostTensor tensor;
    if (Status status = HostTensor::zeros(sample.type, dims, tensor);
        !status.ok())
      return status;
    samples.push_back(std::move(tensor));
  }
  for (size_t entry = 0; entry < artifact->entryCount(); ++entry)
    for (const Port &port : artifact->program(entry).inputs) {
      if (port.role == InputRole::Data || port.role == InputRole::Carried ||
          numbers.count(port.role))
        continue;
      const Buffer &buffer = artifact->program(entry).buffers[port.buffer];
      if (Status status = HostTensor::zeros(static_cast<mlc_dtype>(buffer.type),
                                            {}, numbers[port.role]);
          !status.ok())
        return status;
    }
  actions = makeStepSchedule(*artifact, stages, stages.line());
  evaluation = program.findEntry("evaluate");
  return Status::success();
}

Status StepEntries::open(mlc_artifact *handle, const mlc_session_options &how) {
  entries.resize(artifact->entryCount());
  readsSamples.resize(entries.size());
  hasRun.resize(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    mlc_artifact *of = nullptr;
    mlc_session *session = nullptr;
    Status status;
    if (i == 0) {
      status = lastFailure(mlc_session_create(handle, &how, &session));
    } else {
      status = lastFailure(mlc_artifact_entry(handle, i, &of));
      entries[i].artifact.reset(of);
      if (status.ok())
        status = lastFailure(mlc_session_entry(this->session(), i, &session));
    }
    entries[i].session.reset(session);
    if (status.ok())
      status = bind(i);
    if (!status.ok())
      return status;
  }
  Ranks *others = isPipeline() ? group.get().get() : nullptr;
  if (Status status = openGroups(others); !status.ok())
    return status;
  sums.open(*artifact, stages, others, session());
  Status status = versions.open(*artifact, stages, stages.line(),
                                *session()->impl.states());
  return status.ok() ? carried.open(*artifact, stages, others) : status;
}

/// Ranks of different stages prepare different collectives, so all of them make
/// the groups for these together.
Status StepEntries::openGroups(Ranks *others) const {
  const std::vector<MeshAxis> &mesh = artifact->mesh();
  for (uint32_t axis = 0; others && axis < mesh.size(); ++axis)
    if (mesh[axis].size > 1 && mesh[axis].name != kStageAxis)
      if (Status status = others->openGroups(mesh, axis); !status.ok())
        return status;
  return Status::success();
}

/// Binds samples and numbers once; steps change only the contents.
Status StepEntries::bind(size_t entry) {
  const std::vector<Port> &inputs = artifact->program(entry).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const HostTensor *tensor = nullptr;
    if (inputs[i].role == InputRole::Data) {
      readsSamples[entry] = true;
      for (size_t s = 0; s < samples.size(); ++s)
        if (training->samples[s].name == inputs[i].name)
          tensor = &samples[s];
    } else if (inputs[i].role != InputRole::Carried) {
      tensor = &numbers.at(inputs[i].role);
    }
    if (!tensor)
      continue;
    if (mlc_status status = mlc_session_bind_input(
            entries[entry].session.get(), i, tensor->type, tensor->dims.size(),
            tensor->dims.data(), tensor->data.get(), MLC_SPACE_HOST))
      return lastFailure(status);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

void StepEntries::setNumber(InputRole role, double value) {
  auto it = numbers.find(role);
  if (it == numbers.end())
    return;
  const HostTensor &tensor = it->second;
  if (tensor.type == MLC_U64)
    *tensor.as<uint64_t>() = uint64_t(value);
  else if (tensor.type == MLC_F64)
    *tensor.as<double>() = value;
  else
    *tensor.as<float>() = float(value);
}

std::optional<size_t> StepEntries::findOutput(size_t entry,
                                              const std::string &name) const {
  const std::vector<Port> &outputs = artifact->program(entry).outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].name == name)
      return i;
  return std::nullopt;
}

/// Reads the batch, unless it is the one that was read last.
Status StepEntries::fill(BatchSource &source, int64_t number) {
  if (filled == number)
    return Status::success();
  filled.reset();
  Status status = source.fill(number, samples);
  if (status.ok())
    filled = number;
  return status;
}

Status StepEntries::run(const Action &action) {
  const int64_t batch = action.batch.value_or(-1);
  if (action.kind == Action::Transfer)
    return carried.transfer(action.from, action.to, batch);
  if (action.kind == Action::Reduce)
    return sums.reduce(action.from);
  Status status;
  if (action.kind == Action::Run) {
    OpenEntry &entry = entries[action.entry];
    status = carried.bind(action.entry, entry, batch);
    if (status.ok())
      status = entry.run();
    if (status.ok())
      status = carried.keep(action.entry, entry, batch);
    hasRun[action.entry] = true;
  }
  return status.ok() && !action.batch ? carried.transferUpdate(action.entry)
                                      : status;
}

Status StepEntries::runBatch(const Action &action, BatchSource &source,
                             int64_t number, double &loss) {
  const int64_t batch = number + *action.batch;
  setNumber(InputRole::BatchNumber, double(batch));
  setNumber(InputRole::Keep, hasGradients[action.entry]);
  hasGradients[action.entry] = true;
  if (!labels.empty())
    setNumber(InputRole::LabelCount, labels[action.from][action.update]);
  Status status =
      readsSamples[action.entry] ? fill(source, batch) : Status::success();
  if (status.ok())
    status = run(action);
  double one = 0;
  if (auto output = findOutput(action.entry, "loss"); status.ok() && output)
    status = entries[action.entry].readNumber(*output, one);
  loss += status.ok() ? one : 0;
  return status;
}

/// An update of an asynchronous schedule; the stage's sums begin anew.
Status StepEntries::runVersionedUpdate(const Action &action) {
  for (size_t entry = 0; entry < entries.size(); ++entry)
    if (stages.entry(entry) && stages.entry(entry)->stage == action.from)
      hasGradients[entry] = false;
  setNumber(InputRole::GradientCount,
            double(stages.versions(action.from).gradients[action.update]));
  return run(action);
}

/// Counts the labels of the batches of each update.
void StepEntries::countLabels(const BatchSource &source, int64_t number) {
  if (!stages.isAsynchronous() || !has(InputRole::LabelCount))
    return;
  labels.resize(stages.count());
  for (int64_t stage = 0; stage < stages.count(); ++stage) {
    const schedule::StageVersions &all = stages.versions(stage);
    labels[stage].assign(all.gradients.size(), 0);
    for (size_t batch = 0; batch < all.updateOf.size(); ++batch)
      labels[stage][all.updateOf[batch]] +=
          double(source.countLabels(number + int64_t(batch))) /
          double(all.gradients[all.updateOf[batch]]);
  }
}

Status StepEntries::runBatches(
    BatchSource &source, int64_t number, double &loss,
    const std::function<void(int64_t, int64_t)> &beforeUpdate) {
  loss = 0;
  filled.reset();
  // An entry's first run in a step begins new sums of gradients.
  hasGradients.assign(entries.size(), false);
  countLabels(source, number);
  Status status;
  for (const Action &action : actions) {
    if (action.kind == Action::Run)
      versions.choose(action);
    if (action.batch && action.kind == Action::Run) {
      status = runBatch(action, source, number, loss);
    } else if (action.batch ||
               (stages.isAsynchronous() && action.kind == Action::Reduce)) {
      status = run(action);
    } else if (stages.isAsynchronous()) {
      beforeUpdate(action.update, stages.countUpdates(action.from));
      status = runVersionedUpdate(action);
    }
    if (!status.ok())
      return status;
  }
  versions.finish();
  return status;
}

Status StepEntries::runUpdate() {
  Status status;
  for (const Action &action : actions)
    if (status.ok() && !action.batch && !stages.isAsynchronous())
      status = run(action);
  return status.ok() ? carried.finish() : status;
}

Status StepEntries::evaluate(BatchSource &source, int64_t number, double &loss,
                             double *right) {
  filled.reset();
  OpenEntry &entry = entries[*evaluation];
  Status status = source.fill(number, samples);
  if (status.ok())
    status = entry.run();
  if (status.ok())
    status = entry.readNumber(0, loss);
  return status.ok() && right ? entry.readNumber(1, *right) : status;
}

int64_t StepEntries::lossGroupOf(int64_t batch) const {
  for (size_t i = 0; i < entries.size() && stages.isAsynchronous(); ++i)
    if (stages.entry(i) && findOutput(i, "loss"))
      return stages.versions(stages.entry(i)->stage).updateOf[batch];
  return 0;
}

bool StepEntries::countsRight() const {
  return training->labels && artifact->program(*evaluation).outputs.size() > 1;
}

Status StepEntries::readFinite(std::optional<bool> &finite) const {
  finite.reset();
  for (const Action &action : actions)
    if (auto output = findOutput(action.entry, "finite");
        output && action.kind == Action::Run && hasRun[action.entry]) {
      double number = 0;
      Status status = entries[action.entry].readNumber(*output, number);
      finite = number != 0;
      return status;
    }
  return Status::success();
}

Status StepEntries::share(double &loss, std::optional<bool> &finite) const {
  int64_t bits;
  std::memcpy(&bits, &loss, sizeof(bits));
  std::vector<int64_t> all;
  bool hasLoss = false;
  for (size_t i = 0; i < entries.size(); ++i)
    hasLoss |= i != evaluation && hasRun[i] && findOutput(i, "loss");
  // All copies of the pipeline have the loss of the whole batch.
  hasLoss &= stages.isFirstCopy();
  Status status = group.gather({hasLoss, bits, finite ? *finite + 1 : 0}, all);
  loss = 0;
  for (size_t r = 0; status.ok() && r < all.size(); r += 3) {
    double own;
    std::memcpy(&own, &all[r + 1], sizeof(own));
    loss += all[r] ? own : 0;
    if (all[r + 2])
      finite = all[r + 2] == 2;
  }
  return status;
}

bool StepEntries::usesState(size_t state) const {
  for (const Action &action : actions)
    if (action.kind == Action::Run)
      if (const StateUse &use = artifact->stateUse(action.entry);
          use.reads[state] || use.writes[state])
        return true;
  return false;
}

std::vector<int> StepEntries::ranksOfState(size_t state) const {
  int line = 0;
  for (size_t i = entries.size(); i-- > 0;)
    if (const StateUse &use = artifact->stateUse(i);
        stages.entry(i) && (use.writes[state] ||
                            use.writes[versions.nextOf(state).value_or(state)]))
      line = stages.ranksOf(stages.entry(i)->stage).front();
  const std::vector<MeshAxis> &mesh = artifact->mesh();
  if (mesh.empty())
    return {line};
  const std::vector<Split> &splits = artifact->states()[state].splits;
  std::vector<int> found;
  for (int rank = 0; rank < group.size(); ++rank) {
    const std::vector<int64_t> at = coordinatesOf(mesh, rank);
    bool isFirst = true;
    for (size_t axis = 0; axis < mesh.size(); ++axis)
      isFirst &=
          mesh[axis].name == kStageAxis
              ? at[axis] == line
              : at[axis] == 0 || std::any_of(splits.begin(), splits.end(),
                                             [&](const Split &split) {
                                               return split.axis == axis;
                                             });
    if (isFirst)
      found.push_back(rank);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status StepEntries::addMemory(TrainingMemory &memory) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!hasRun[i])
      continue;
    mlc_memory own;
    if (mlc_status status = mlc_session_memory(entries[i].session.get(), &own))
      return lastFailure(status);
    memory.arena += own.arena_bytes;
    memory.bound += own.lower_bound_bytes;
    memory.scratch += own.scratch_bytes;
  }
  // What entries carry lives as long as they run.
  memory.carried = carried.bytes();
  memory.arena += memory.carried;
  memory.bound += memory.carried;
  memory.sums = sums.bytes();
  for (const HostTensor &tensor : samples)
    memory.samples += tensor.bytes;
  return Status::success();
}

uint64_t StepEntries::allocations() const {
  uint64_t count = carried.allocations() + sums.allocations();
  for (size_t i = 0; i < entries.size(); ++i)
    if (i != evaluation)
      count += mlc_session_allocation_count(entries[i].session.get());
  return count;
}
