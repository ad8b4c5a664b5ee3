//===- Trainer.cpp - Steps of training ------------------------------------===//

#include "tools/mlc/Trainer.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/SmallFloats.h"
#include <cmath>
#include <numbers>

using namespace mlc;
using namespace mlc::cli;

double LearningRate::at(int64_t step) const {
  if (step < warmup)
    return rate * double(step + 1) / double(warmup);
  double done = steps > warmup
                    ? std::min(1.0, double(step - warmup) / (steps - warmup))
                    : 0;
  switch (schedule) {
  case Schedule::Constant:
    return rate;
  case Schedule::Linear:
    return rate * (1 - done);
  case Schedule::Cosine:
    return rate * (1 + std::cos(std::numbers::pi * done)) / 2;
  }
  return rate;
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

llvm::ArrayRef<mlc_port> Trainer::dataPorts() const {
  return llvm::ArrayRef(built->inputs()).take_front(batch.size());
}

SamplePart Trainer::samplePart() const {
  runtime::PartRange part = group->partOf(read->batch);
  return {read->batch, part.begin, part.end};
}

/// Inputs with dims are samples.
llvm::Error Trainer::addTensors(llvm::ArrayRef<mlc_port> ports,
                                std::vector<HostTensor> &tensors) const {
  for (mlc_port port : ports) {
    std::vector<int64_t> sizes(port.dims, port.dims + port.rank);
    if (!sizes.empty() && sizes[0] < 0)
      sizes[0] = group->partOf(read->batch).size();
    port.dims = sizes.data();
    auto dims = portDims(port, {});
    if (!dims)
      return dims.takeError();
    auto tensor = HostTensor::zeros(port.type, std::move(*dims));
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return llvm::Error::success();
}

/// The inputs of the first entry, from the last on.
llvm::Error Trainer::addInputs() {
  llvm::ArrayRef<mlc_port> ports = built->inputs();
  auto take = [&](size_t count, std::vector<HostTensor> &tensors) {
    llvm::Error error = addTensors(ports.take_back(count), tensors);
    ports = ports.drop_back(count);
    return error;
  };
  if (entries.keepsGradients()) {
    if (llvm::Error error = take(1, keep))
      return error;
    if (llvm::Error error = take(optimizer.scalesLoss, scales))
      return error;
  } else if (llvm::Error error =
                 take(scalarsOf(optimizer.kind).size() + optimizer.scalesLoss,
                      scalars)) {
    return error;
  }
  // Samples have dims.
  auto isLast = [&](llvm::StringRef name) {
    return !ports.empty() && ports.back().rank == 0 &&
           ports.back().name == name;
  };
  bool isCounted = isLast("step") && ports.back().type == MLC_U64;
  if (llvm::Error error = take(isCounted, counter))
    return error;
  bool isTold = entries.givesCount() && isLast("count");
  if (llvm::Error error = take(isTold, count))
    return error;
  return addTensors(ports, batch);
}

llvm::Error Trainer::setState(const KeptState &state, const HostTensor &value) {
  HostTensor own = value;
  if (state.splitDim) {
    auto part = group->split(value, *state.splitDim);
    if (!part)
      return part.takeError();
    own = std::move(*part);
  }
  if (mlc_status status = mlc_session_set_state(
          first->get(), state.index, own.type, own.dims.size(), own.dims.data(),
          own.data.get(), MLC_SPACE_HOST))
    return runtimeFailure(built->name(), status);
  if (!state.rounded)
    return llvm::Error::success();
  auto rounded = narrowed(value, state.rounded->type);
  return rounded ? setState(*state.rounded, *rounded) : rounded.takeError();
}

/// The states of the artifact, by name.
llvm::Expected<std::vector<Trainer::KeptState>> Trainer::listStates() const {
  std::vector<KeptState> found;
  for (size_t i = 0, n = mlc_artifact_state_count(built->get()); i < n; ++i) {
    mlc_port port;
    if (mlc_status status = mlc_artifact_state(built->get(), i, &port))
      return runtimeFailure(built->name(), status);
    KeptState state{
        port.name,    i,
        port.type,    std::vector<int64_t>(port.dims, port.dims + port.rank),
        std::nullopt, nullptr};
    if (auto it = read->splitDims.find(state.name); it != read->splitDims.end())
      state.splitDim = it->second;
    found.push_back(std::move(state));
  }
  return found;
}

/// Sums of gradients belong to a step, and to no checkpoint; what is rounded
/// follows from its master.
llvm::Error Trainer::addStates() {
  auto found = listStates();
  if (!found)
    return found.takeError();
  std::map<std::string, KeptState, std::less<>> byName;
  for (const KeptState &state : *found)
    byName[state.name] = state;
  for (auto [weight, value] : llvm::zip(read->kept(), read->values)) {
    KeptState state = byName.at("weight/" + weight->name);
    if (auto it = byName.find("rounded/" + weight->name); it != byName.end())
      state.rounded = std::make_shared<KeptState>(it->second);
    if (llvm::Error error = setState(state, value))
      return error;
    states.push_back(std::move(state));
  }
  for (const KeptState &state : *found)
    if (llvm::StringRef name = state.name; !name.starts_with("gradient/") &&
                                           !name.starts_with("rounded/") &&
                                           !name.starts_with("weight/"))
      states.push_back(state);
  return llvm::Error::success();
}

/// Everything is bound once: steps change the contents.
llvm::Error Trainer::openEntries() {
  std::vector<HostTensor> inputs(batch);
  llvm::append_range(inputs, count);
  llvm::append_range(inputs, counter);
  llvm::append_range(inputs, scales);
  llvm::append_range(inputs, entries.keepsGradients() ? keep : scalars);
  if (llvm::Error error = first->bind(std::move(inputs)))
    return error;
  auto open = [&](llvm::StringRef name, std::unique_ptr<Model> &model,
                  std::optional<Session> &session,
                  const std::vector<HostTensor> &inputs) -> llvm::Error {
    auto entry = built->entry(name);
    if (!entry)
      return entry.takeError();
    model = std::make_unique<Model>(std::move(*entry));
    auto made = first->entry(*model);
    if (!made)
      return made.takeError();
    session.emplace(std::move(*made));
    return session->bind(inputs);
  };
  if (entries.keepsGradients() && !entries.computesAlone) {
    auto entry = built->entry("apply");
    if (!entry)
      return entry.takeError();
    if (llvm::Error error = addTensors(entry->inputs(), scalars))
      return error;
    if (llvm::Error error = open("apply", applying, apply, scalars))
      return error;
  }
  return entries.evaluates ? open("evaluate", evaluating, evaluation, batch)
                           : llvm::Error::success();
}

llvm::Expected<Trainer>
Trainer::create(const Model &built, const TrainingModel &read,
                const TrainingEntries &entries, const TrainingRanks &ranks,
                const std::string &device, unsigned threads) {
  Trainer trainer;
  trainer.built = &built;
  trainer.read = &read;
  trainer.group = &ranks;
  trainer.optimizer = read.optimizer;
  trainer.lossScale = read.lossScale;
  trainer.entries = entries;
  if (llvm::Error error = trainer.addInputs())
    return error;
  auto session = Session::create(built, device, threads, 0, ranks.get());
  if (!session)
    return session.takeError();
  trainer.first.emplace(std::move(*session));
  if (llvm::Error error = trainer.addStates())
    return error;
  if (llvm::Error error = trainer.openEntries())
    return error;
  return trainer;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static void setNumber(const HostTensor &scalar, double number) {
  if (scalar.type == MLC_F64)
    *reinterpret_cast<double *>(scalar.data.get()) = number;
  else
    *reinterpret_cast<float *>(scalar.data.get()) = float(number);
}

/// For update `number`.
void Trainer::setScalars(double rate, int64_t number, double scale) {
  // As if steps that change nothing were none.
  double t = double(number + 1 - lossScale.getSkipped());
  llvm::SmallVector<double> numbers = {rate, 1 - std::pow(optimizer.beta1, t),
                                       1 - std::pow(optimizer.beta2, t)};
  numbers.resize(scalarsOf(optimizer.kind).size());
  numbers.push_back(scale);
  for (auto [scalar, number] : llvm::zip(scalars, numbers))
    setNumber(scalar, number);
}

static llvm::Expected<double> readNumber(Session &session, size_t output) {
  auto tensor = session.output(output);
  if (!tensor)
    return tensor.takeError();
  return tensor->type == MLC_F64 ? *static_cast<const double *>(tensor->data)
                                 : *static_cast<const float *>(tensor->data);
}

/// By the last result of the entry that has changed the weights.
llvm::Error Trainer::updateScale() {
  if (!optimizer.scalesLoss)
    return llvm::Error::success();
  auto finite = apply ? readNumber(*apply, 0) : readNumber(*first, 1);
  if (!finite)
    return finite.takeError();
  lossScale.update(*finite != 0);
  return llvm::Error::success();
}

std::optional<size_t> Trainer::labels() const {
  for (auto [i, port] : llvm::enumerate(dataPorts()))
    if (read->hasLabels && port.name == read->target)
      return i;
  return std::nullopt;
}

int64_t Trainer::countLabels(const TrainingData &data, uint64_t seed,
                             int64_t number) const {
  int64_t counted = 0;
  for (int64_t i = 0; i < entries.accumulate; ++i)
    counted +=
        data.countLabels(seed, number * entries.accumulate + i, *labels());
  return counted;
}

/// The loss of batch `number` of all that are ever taken.
llvm::Expected<double> Trainer::runBatch(TrainingData &data, uint64_t seed,
                                         int64_t number, Session &session) {
  data.fill(seed, number, batch);
  if (llvm::Error error = session.run())
    return error;
  return readNumber(session, 0);
}

llvm::Expected<double> Trainer::computeGradients(TrainingData &data,
                                                 uint64_t seed) {
  for (const HostTensor &scale : scales)
    setNumber(scale, lossScale.getScale());
  // The mean of the batches' losses is then that over the labels of all.
  if (!count.empty())
    setNumber(count[0], double(countLabels(data, seed, done)) /
                            double(entries.accumulate));
  hasComputed = true;
  double sum = 0;
  for (int64_t i = 0; i < entries.accumulate; ++i) {
    int64_t number = done * entries.accumulate + i;
    if (!counter.empty())
      *reinterpret_cast<uint64_t *>(counter[0].data.get()) = number;
    if (!keep.empty())
      setNumber(keep[0], i > 0);
    auto loss = runBatch(data, seed, number, *first);
    if (!loss)
      return loss.takeError();
    sum += *loss;
  }
  return sum / double(entries.accumulate);
}

llvm::Error Trainer::applyGradients(double rate, int64_t number, double scale) {
  setScalars(rate, number, scale);
  if (llvm::Error error = apply->run())
    return error;
  if (llvm::Error error = updateScale())
    return error;
  if (!allocated)
    allocated = allocations();
  return llvm::Error::success();
}

llvm::Expected<double> Trainer::run(TrainingData &data, uint64_t seed,
                                    const LearningRate &rate) {
  // The one entry of a step reads them.
  setScalars(rate.at(done), done, lossScale.getScale());
  uint64_t before = group->bytesSent();
  auto loss = computeGradients(data, seed);
  if (!loss)
    return loss.takeError();
  if (apply)
    if (llvm::Error error = apply->run())
      return error;
  if (llvm::Error error = updateScale())
    return error;
  ++done;
  sent += group->bytesSent() - before;
  if (!allocated)
    allocated = allocations();
  return *loss;
}

llvm::Expected<double> Trainer::evaluate(TrainingData &data) {
  int64_t batches = data.samples() / data.batch(), all = 0;
  double sum = 0;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t weight = labels() ? data.countLabels(/*seed=*/0, i, *labels()) : 1;
    if (weight == 0)
      continue;
    auto loss = runBatch(data, /*seed=*/0, i, *evaluation);
    if (!loss)
      return loss.takeError();
    all += weight;
    sum += *loss * double(weight);
  }
  return sum / double(all);
}

uint64_t Trainer::allocations() const {
  return mlc_session_allocation_count(first->get()) +
         (apply ? mlc_session_allocation_count(apply->get()) : 0);
}

llvm::Expected<TrainingMemory> Trainer::memory() const {
  TrainingMemory memory;
  for (size_t i = 0, n = mlc_artifact_state_count(built->get()); i < n; ++i) {
    mlc_tensor tensor;
    if (mlc_status status = mlc_session_state(first->get(), i, &tensor))
      return runtimeFailure(built->name(), status);
    memory.states += tensor.bytes;
  }
  for (const std::optional<Session> *session : {&first, &apply}) {
    // A server computes no gradients.
    if (!*session || (session == &first && !hasComputed))
      continue;
    auto own = (*session)->memory();
    if (!own)
      return own.takeError();
    memory.arena += own->arena_bytes;
    memory.bound += own->lower_bound_bytes;
  }
  memory.allocations = allocations() - allocated.value_or(0);
  return memory;
}

//===----------------------------------------------------------------------===//
// What training has come to
//===----------------------------------------------------------------------===//

Checkpoint Trainer::outline() const {
  Checkpoint now;
  now.step = done;
  now.lossScale = lossScale;
  for (const KeptState &state : states) {
    now.names.push_back(state.name);
    now.values.push_back({state.type, state.dims, nullptr, 0});
  }
  return now;
}

llvm::Expected<Checkpoint> Trainer::checkpoint() {
  Checkpoint now = outline();
  for (auto [state, value] : llvm::zip(states, now.values)) {
    mlc_tensor tensor;
    if (mlc_status status =
            mlc_session_state(first->get(), state.index, &tensor))
      return runtimeFailure(built->name(), status);
    auto *data = static_cast<char *>(const_cast<void *>(tensor.data));
    // The session's own memory.
    value = {tensor.type,
             std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
             std::shared_ptr<char>(std::shared_ptr<char>(), data),
             tensor.bytes};
    if (!state.splitDim)
      continue;
    auto whole = group->join(state.name, value, *state.splitDim);
    if (!whole)
      return whole.takeError();
    value = std::move(*whole);
  }
  return now;
}

llvm::Error Trainer::restore(const Checkpoint &from) {
  for (auto [state, value] : llvm::zip(states, from.values))
    if (llvm::Error error = setState(state, value))
      return error;
  done = from.step;
  lossScale = from.lossScale;
  return llvm::Error::success();
}

const HostTensor *Trainer::findInput(llvm::StringRef name) const {
  for (auto [port, tensor] : llvm::zip(dataPorts(), batch))
    if (port.name == name)
      return &tensor;
  return nullptr;
}
