//===- Trainer.cpp - Steps of training ------------------------------------===//

#include "runtime/train/Trainer.h"
#include "runtime/ApiCall.h"
#include "runtime/ApiRanks.h"
#include "runtime/Text.h"
#include "runtime/mlc_ranks.h"
#include "runtime/train/Rounding.h"

#include <cmath>

using namespace mlc::runtime;
using namespace mlc::runtime::train;

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Status Trainer::named(Status status) const {
  if (!status.ok() && !options.name.empty() &&
      status.message.rfind(options.name, 0) != 0)
    status.message = options.name + ": " + status.message;
  return status;
}

SamplePart Trainer::samplePart() const {
  PartRange part = group().partOf(training().batch);
  return {training().batch, part.begin, part.end};
}

const HostTensor *Trainer::Inputs::find(InputRole role) const {
  for (const auto &[own, tensor] : numbers)
    if (own == role)
      return &tensor;
  return nullptr;
}

/// Makes a tensor for each input. Entries share those of single numbers;
/// samples are this rank's shard of a batch.
Status Trainer::addInputs() {
  auto add = [&](size_t entry, std::vector<HostTensor> &tensors) -> Status {
    const Program &of = program.artifact().program(entry);
    for (const Port &port : of.inputs) {
      const auto type = static_cast<mlc_dtype>(of.buffers[port.buffer].type);
      HostTensor tensor;
      if (const HostTensor *known = inputs.find(port.role)) {
        tensor = *known;
      } else if (port.role != InputRole::Data) {
        if (Status status = HostTensor::zeros(type, {}, tensor); !status.ok())
          return status;
        inputs.numbers.emplace_back(port.role, tensor);
      } else {
        const SamplePort &sample = training().samples[inputs.data.size()];
        std::vector<int64_t> dims = sample.dims;
        dims[0] = samplePart().end - samplePart().begin;
        for (size_t i = 1; i < dims.size(); ++i)
          if (dims[i] < 0)
            return Status::error(MLC_USAGE, "input '" + printable(sample.name) +
                                                "' has open dims: " +
                                                printable(sample.texts[i]) +
                                                "; give their sizes");
        if (Status status = HostTensor::zeros(type, dims, tensor); !status.ok())
          return status;
        inputs.data.push_back(tensor);
      }
      tensors.push_back(std::move(tensor));
    }
    return Status::success();
  };
  Status status = checkBatch(training(), options.spelling);
  if (status.ok())
    status = add(0, inputs.all);
  std::optional<size_t> applying = program.findEntry("apply");
  if (status.ok() && applying)
    status = add(*applying, inputs.apply);
  return status;
}

/// Binds everything once; steps change only the contents.
Status Trainer::openEntries(mlc_artifact *artifact) {
  mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
  how.threads = options.threads;
  how.device = options.device.empty() ? nullptr : options.device.c_str();
  how.ranks = group().get() ? makeHandle(group().get()) : nullptr;
  mlc_session *handle = nullptr;
  mlc_status made = mlc_session_create(artifact, &how, &handle);
  Status status = lastFailure(made);
  // The session holds its own reference.
  mlc_ranks_close(how.ranks);
  first.session.reset(handle);
  if (status.ok())
    status = first.bind(inputs.all);
  auto open = [&](const char *name, OpenEntry &entry,
                  const std::vector<HostTensor> &bound) {
    std::optional<size_t> index = program.findEntry(name);
    if (!status.ok() || !index)
      return;
    mlc_artifact *of = nullptr;
    mlc_session *session = nullptr;
    status = lastFailure(mlc_artifact_entry(artifact, *index, &of));
    entry.artifact.reset(of);
    if (status.ok())
      status =
          lastFailure(mlc_session_entry(first.session.get(), *index, &session));
    entry.session.reset(session);
    if (status.ok())
      status = entry.bind(bound);
  };
  open("apply", apply, inputs.apply);
  open("evaluate", evaluation, inputs.data);
  return status;
}

Status Trainer::create(mlc_artifact *artifact, TrainerOptions options,
                       std::unique_ptr<Trainer> &made) {
  auto trainer = std::make_unique<Trainer>();
  trainer->options = std::move(options);
  Status status = TrainingProgram::of(artifact->impl, trainer->program);
  if (status.ok())
    status = trainer->addInputs();
  if (status.ok())
    trainer->actions = makeStepSchedule(trainer->program.artifact());
  if (status.ok())
    status = trainer->openEntries(artifact);
  if (!status.ok())
    return trainer->named(status);
  const Training &training = trainer->training();
  if (training.lossScale > 0)
    trainer->lossScale =
        LossScale(training.isScaleDynamic ? LossScale::Kind::Dynamic
                                          : LossScale::Kind::Fixed,
                  training.lossScale);
  made = std::move(trainer);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Trainer::setNumber(InputRole role, double value) {
  const HostTensor *tensor = inputs.find(role);
  if (!tensor)
    return;
  if (tensor->type == MLC_U64)
    *tensor->as<uint64_t>() = uint64_t(value);
  else if (tensor->type == MLC_F64)
    *tensor->as<double>() = value;
  else
    *tensor->as<float>() = float(value);
}

/// Sets the scalar inputs for update `number`.
void Trainer::setScalars(double rate, int64_t number, double scale) {
  // Skipped steps do not count.
  double t = double(number + 1 - lossScale.getSkipped());
  setNumber(InputRole::LearningRate, rate);
  setNumber(InputRole::FirstCorrection, 1 - std::pow(training().beta1, t));
  setNumber(InputRole::SecondCorrection, 1 - std::pow(training().beta2, t));
  setNumber(InputRole::LossScale, scale);
}

/// Updates the loss scale from the last result of the entry that updates the
/// weights.
Status Trainer::updateScale() {
  if (!lossScale.isOn())
    return Status::success();
  double finite = 0;
  Status status =
      apply ? apply.readNumber(0, finite) : first.readNumber(1, finite);
  if (status.ok())
    lossScale.update(finite != 0);
  return status;
}

/// The number of labels of all batches of a step.
int64_t Trainer::countLabels(const BatchSource &source, int64_t step) const {
  int64_t counted = 0;
  for (int64_t i = 0; i < training().accumulate; ++i)
    counted += source.countLabels(step * training().accumulate + i);
  return counted;
}

/// Computes the loss of batch `number`, counted over the whole training.
Status Trainer::runBatch(BatchSource &source, int64_t number, OpenEntry &entry,
                         double &loss) {
  Status status = source.fill(number, inputs.data);
  if (status.ok())
    status = entry.run();
  return status.ok() ? entry.readNumber(0, loss) : status;
}

Status Trainer::computeGradients(BatchSource &source, double &loss) {
  const int64_t batches = training().accumulate;
  if (inputs.find(InputRole::Keep))
    setNumber(InputRole::LossScale, lossScale.getScale());
  // Then the mean of the batches' losses is the mean over all labels.
  if (inputs.find(InputRole::LabelCount))
    setNumber(InputRole::LabelCount,
              double(countLabels(source, done)) / double(batches));
  hasComputed = true;
  double sum = 0;
  bool hasGradients = false;
  for (const Action &action : actions) {
    if (!action.batch)
      continue;
    const int64_t number = done * batches + *action.batch;
    setNumber(InputRole::BatchNumber, double(number));
    setNumber(InputRole::Keep, hasGradients);
    hasGradients = true;
    double one = 0;
    if (Status status = runBatch(source, number, first, one); !status.ok())
      return named(status);
    sum += one;
  }
  loss = sum / double(batches);
  return Status::success();
}

/// Runs the actions that read no batch: those of the only other entry.
Status Trainer::runRest() {
  Status status;
  for (const Action &action : actions)
    if (status.ok() && !action.batch)
      status = apply.run();
  return status;
}

Status Trainer::applyGradients(double rate, int64_t number, double scale) {
  setScalars(rate, number, scale);
  Status status = runRest();
  if (status.ok())
    status = updateScale();
  if (status.ok() && !allocated)
    allocated = allocations();
  return named(status);
}

Status Trainer::run(BatchSource &source, double rate, double &loss) {
  // A single entry for the whole step reads them.
  setScalars(rate, done, lossScale.getScale());
  uint64_t before = group().bytesSent();
  Status status = computeGradients(source, loss);
  if (status.ok())
    status = named(runRest());
  if (status.ok())
    status = named(updateScale());
  if (!status.ok())
    return status;
  ++done;
  sent += group().bytesSent() - before;
  if (!allocated)
    allocated = allocations();
  return status;
}

Status Trainer::evaluate(BatchSource &source, int64_t batches,
                         Evaluation &found) {
  if (!evaluation)
    return Status::error(MLC_USAGE, "the artifact has no entry that evaluates");
  const Program &entry =
      program.artifact().program(*program.findEntry("evaluate"));
  const bool countsRight = training().labels && entry.outputs.size() > 1;
  int64_t all = 0;
  double sum = 0, right = 0;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t weight = training().labels ? source.countLabels(i) : 1;
    double one = 0;
    if (weight == 0)
      continue;
    if (Status status = runBatch(source, i, evaluation, one); !status.ok())
      return named(status);
    all += weight;
    sum += one * double(weight);
    double own = 0;
    if (countsRight)
      if (Status status = evaluation.readNumber(1, own); !status.ok())
        return named(status);
    right += own;
  }
  found = {sum / double(all), std::nullopt};
  if (countsRight)
    found.accuracy = right / double(all);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t Trainer::allocations() const {
  return mlc_session_allocation_count(first.session.get()) +
         (apply ? mlc_session_allocation_count(apply.session.get()) : 0);
}

Status Trainer::memory(TrainingMemory &memory) const {
  memory = {};
  for (size_t i = 0; i < program.artifact().states().size(); ++i) {
    mlc_tensor tensor;
    if (mlc_status status = mlc_session_state(session(), i, &tensor))
      return named(lastFailure(status));
    memory.states += tensor.bytes;
  }
  for (const OpenEntry *entry : {&first, &apply}) {
    // A server computes no gradients.
    if (!*entry || (entry == &first && !hasComputed))
      continue;
    mlc_memory own;
    if (mlc_status status = mlc_session_memory(entry->session.get(), &own))
      return named(lastFailure(status));
    memory.arena += own.arena_bytes;
    memory.bound += own.lower_bound_bytes;
  }
  memory.allocations = allocations() - allocated.value_or(0);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Weights, states and checkpoints
//===----------------------------------------------------------------------===//

/// `value` is the whole tensor.
Status Trainer::setState(size_t index, const HostTensor &value) {
  const State &state = program.state(index);
  HostTensor own = value;
  if (!state.splits.empty())
    if (Status status =
            group().split(program.artifact().mesh(), state, value, own);
        !status.ok())
      return status;
  if (mlc_status status = mlc_session_set_state(
          session(), index, own.type, own.dims.size(), own.dims.data(),
          own.data.get(), MLC_SPACE_HOST))
    return lastFailure(status);
  std::optional<size_t> rounded;
  if (state.role == StateRole::Weight)
    rounded = program.find(StateRole::Rounded, state.owner);
  if (!rounded)
    return Status::success();
  HostTensor narrow;
  Status status = roundTo(static_cast<mlc_dtype>(program.state(*rounded).type),
                          value, narrow);
  return status.ok() ? setState(*rounded, narrow) : status;
}

/// A view of the session's memory, or for a split state on rank 0, the joined
/// whole.
Status Trainer::getState(size_t index, HostTensor &value) const {
  mlc_tensor tensor;
  if (mlc_status status = mlc_session_state(session(), index, &tensor))
    return lastFailure(status);
  auto *data = static_cast<char *>(const_cast<void *>(tensor.data));
  value = {tensor.type,
           std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
           std::shared_ptr<char>(std::shared_ptr<char>(), data), tensor.bytes};
  const State &state = program.state(index);
  return state.splits.empty()
             ? Status::success()
             : group().join(program.artifact().mesh(), state, value, value);
}

Checkpoint Trainer::outline() const {
  Checkpoint now;
  now.step = done;
  now.lossScale = lossScale;
  for (size_t index : program.kept()) {
    const State &state = program.state(index);
    now.values.push_back(
        {state.name,
         state.role,
         state.owner,
         {static_cast<mlc_dtype>(state.type), state.dims, nullptr, 0}});
  }
  return now;
}

Status Trainer::checkpoint(Checkpoint &now) const {
  now = outline();
  for (size_t i = 0; i < now.values.size(); ++i)
    if (Status status = getState(program.kept()[i], now.values[i].tensor);
        !status.ok())
      return named(status);
  return Status::success();
}

Status Trainer::restore(const Checkpoint &from) {
  for (size_t i = 0; i < from.values.size(); ++i)
    if (Status status = setState(program.kept()[i], from.values[i].tensor);
        !status.ok())
      return named(status);
  done = from.step;
  lossScale = from.lossScale;
  return Status::success();
}
