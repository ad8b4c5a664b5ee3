//===- Trainer.cpp - Steps of training ------------------------------------===//

#include "runtime/train/Trainer.h"
#include "runtime/ApiCall.h"
#include "runtime/ApiRanks.h"
#include "runtime/Text.h"
#include "runtime/mlc_ranks.h"
#include "runtime/train/Rounding.h"

#include <cmath>
#include <cstring>

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
  const int64_t batch = training().batch;
  const std::vector<MeshAxis> &mesh = program.artifact().mesh();
  // Of a pipeline without a mesh every rank reads all samples.
  PartRange part =
      training().stages > 1 ? PartRange{0, batch} : group().partOf(batch);
  for (size_t axis = 0; axis < mesh.size(); ++axis)
    if (mesh[axis].name == kDataAxis)
      part = partRange(batch, mesh[axis].size,
                       coordinatesOf(mesh, group().rank())[axis]);
  return {batch, part.begin, part.end};
}

Status Trainer::open(mlc_artifact *artifact) {
  const SamplePart part = samplePart();
  Status status = checkBatch(training(), options.spelling);
  if (status.ok())
    status = entries.addInputs(program, group(), part.end - part.begin);
  if (!status.ok())
    return status;
  mlc_session_options how = MLC_SESSION_OPTIONS_INIT;
  how.threads = options.threads;
  how.device = options.device.empty() ? nullptr : options.device.c_str();
  // Without a mesh, entries of stages are programs of one rank.
  const bool isOfOne =
      entries.isPipeline() && program.artifact().mesh().empty();
  how.ranks = group().get() && !isOfOne ? makeHandle(group().get()) : nullptr;
  status = entries.open(artifact, how);
  // The sessions hold their own reference.
  mlc_ranks_close(how.ranks);
  return status;
}

Status Trainer::create(mlc_artifact *artifact, TrainerOptions options,
                       std::unique_ptr<Trainer> &made) {
  auto trainer = std::make_unique<Trainer>();
  trainer->options = std::move(options);
  Status status = TrainingProgram::of(artifact->impl, trainer->program);
  if (status.ok())
    status = trainer->open(artifact);
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

/// Sets the scalar inputs for update `number`.
void Trainer::setScalars(double rate, int64_t number, double scale) {
  // Skipped steps do not count.
  double t = double(number + 1 - lossScale.getSkipped());
  entries.setNumber(InputRole::LearningRate, rate);
  entries.setNumber(InputRole::FirstCorrection,
                    1 - std::pow(training().beta1, t));
  entries.setNumber(InputRole::SecondCorrection,
                    1 - std::pow(training().beta2, t));
  entries.setNumber(InputRole::LossScale, scale);
}

/// Updates the loss scale by the entries that update the weights.
Status Trainer::updateScale(double *loss) {
  std::optional<bool> finite;
  Status status;
  if (lossScale.isOn())
    status = entries.readFinite(finite);
  if (status.ok() && loss && entries.isPipeline())
    status = entries.share(*loss, finite);
  if (status.ok() && lossScale.isOn())
    lossScale.update(finite.value_or(true));
  areStatesShared = false;
  return status;
}

/// The number of labels of all batches of a step.
int64_t Trainer::countLabels(const BatchSource &source, int64_t step) const {
  int64_t counted = 0;
  for (int64_t i = 0; i < training().accumulate; ++i)
    counted += source.countLabels(step * training().accumulate + i);
  return counted;
}

Status Trainer::runBatches(BatchSource &source, double rate, double &loss) {
  const int64_t batches = training().accumulate;
  if (entries.has(InputRole::Keep))
    entries.setNumber(InputRole::LossScale, lossScale.getScale());
  // Then the mean of the batches' losses is the mean over all labels.
  if (entries.has(InputRole::LabelCount))
    entries.setNumber(InputRole::LabelCount,
                      double(countLabels(source, done)) / double(batches));
  double sum = 0;
  Status status = entries.runBatches(
      source, done * batches, sum, [&](int64_t update, int64_t updates) {
        setScalars(rate, done * updates + update, lossScale.getScale());
      });
  if (!status.ok())
    entries.reset();
  loss = sum / double(batches);
  return named(status);
}

Status Trainer::computeGradients(BatchSource &source, double &loss) {
  return runBatches(source, /*rate=*/0, loss);
}

Status Trainer::applyGradients(double rate, int64_t number, double scale) {
  setScalars(rate, number, scale);
  Status status = entries.runUpdate();
  if (status.ok())
    status = updateScale(nullptr);
  if (status.ok() && !allocated)
    allocated = entries.allocations();
  return named(status);
}

Status Trainer::run(BatchSource &source, double rate, double &loss) {
  // A single entry for the whole step reads them.
  setScalars(rate, done, lossScale.getScale());
  uint64_t before = group().bytesSent();
  Status status = runBatches(source, rate, loss);
  if (status.ok())
    status = named(entries.runUpdate());
  if (status.ok())
    status = named(updateScale(&loss));
  if (!status.ok())
    return status;
  ++done;
  sent += group().bytesSent() - before;
  if (!allocated)
    allocated = entries.allocations();
  return status;
}

Status Trainer::evaluate(BatchSource &source, int64_t batches,
                         Evaluation &found) {
  if (!entries.evaluates())
    return Status::error(MLC_USAGE, "the artifact has no entry that evaluates");
  if (Status status = shareStates(); !status.ok())
    return named(status);
  const bool countsRight = entries.countsRight();
  int64_t all = 0;
  double sum = 0, right = 0;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t weight = training().labels ? source.countLabels(i) : 1;
    double one = 0, own = 0;
    if (weight == 0)
      continue;
    if (Status status =
            entries.evaluate(source, i, one, countsRight ? &own : nullptr);
        !status.ok())
      return named(status);
    all += weight;
    sum += one * double(weight);
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

Status Trainer::memory(TrainingMemory &memory) const {
  memory = {};
  for (size_t i = 0; i < program.artifact().states().size(); ++i) {
    if (entries.isPipeline() && !entries.usesState(i))
      continue;
    // Counted with the versions.
    if (program.state(i).role == StateRole::Next)
      continue;
    mlc_tensor tensor;
    if (mlc_status status = mlc_session_state(session(), i, &tensor))
      return named(lastFailure(status));
    memory.states += tensor.bytes;
  }
  memory.states += entries.versionBytes();
  if (Status status = entries.addMemory(memory); !status.ok())
    return named(status);
  memory.allocations = entries.allocations() - allocated.value_or(0);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Weights, states and checkpoints
//===----------------------------------------------------------------------===//

static std::vector<int64_t> dimsOf(const std::vector<PartRange> &ranges) {
  std::vector<int64_t> sizes;
  sizes.reserve(ranges.size());
  for (const PartRange &range : ranges)
    sizes.push_back(range.size());
  return sizes;
}

/// Sets this rank's part of a state; `value` is the whole tensor.
Status Trainer::setPart(size_t index, const HostTensor &value) {
  const State &state = program.state(index);
  HostTensor own = value;
  if (!state.splits.empty())
    if (Status status =
            group().split(program.artifact().mesh(), state, value, own);
        !status.ok())
      return status;
  return lastFailure(mlc_session_set_state(session(), index, own.type,
                                           own.dims.size(), own.dims.data(),
                                           own.data.get(), MLC_SPACE_HOST));
}

/// `value` is the whole tensor.
Status Trainer::setState(size_t index, const HostTensor &value) {
  const State &state = program.state(index);
  areStatesShared = false;
  // Of a pipeline, a rank has what its stages use.
  if (entries.isPipeline() && !entries.usesState(index))
    return Status::success();
  if (Status status = setPart(index, value); !status.ok())
    return status;
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

/// The elements of a state of a pipeline, from the ranks that change it; all
/// ranks call this together.
Status Trainer::fetchState(size_t index, HostTensor &value) const {
  const State &state = program.state(index);
  const std::vector<MeshAxis> &mesh = program.artifact().mesh();
  Status status =
      HostTensor::zeros(static_cast<mlc_dtype>(state.type), state.dims, value);
  for (int root : entries.ranksOfState(index)) {
    std::vector<PartRange> ranges =
        partOfTensor(state.dims, state.splits, mesh, coordinatesOf(mesh, root));
    HostTensor part = value;
    if (status.ok() && !state.splits.empty())
      status = HostTensor::zeros(value.type, dimsOf(ranges), part);
    if (!status.ok())
      return status;
    if (root == group().rank()) {
      mlc_tensor own;
      if (mlc_status code = mlc_session_state(session(), index, &own))
        return lastFailure(code);
      if (own.bytes)
        std::memcpy(part.data.get(), own.data, own.bytes);
    }
    status = group().broadcast(part, root);
    if (status.ok() && !state.splits.empty() && part.bytes)
      copyPart(state.dims, ranges, mlc_dtype_size(value.type),
               value.as<uint8_t>(), part.as<uint8_t>(), /*join=*/true);
  }
  return status;
}

/// Gives all ranks the weights and statistics of all stages, for an entry that
/// reads all of them.
Status Trainer::shareStates() {
  Status status;
  for (size_t index : program.kept()) {
    if (!status.ok() || !entries.isPipeline() || areStatesShared)
      break;
    HostTensor value;
    status = fetchState(index, value);
    if (status.ok() && program.state(index).role != StateRole::Moment)
      status = setPart(index, value);
  }
  areStatesShared = status.ok();
  return status;
}

/// A view of the session's memory, or for a split state on rank 0, the joined
/// whole.
Status Trainer::getState(size_t index, HostTensor &value) const {
  if (entries.isPipeline())
    return fetchState(index, value);
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
