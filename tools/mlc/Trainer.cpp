//===- Trainer.cpp - Steps of training ------------------------------------===//

#include "tools/mlc/Trainer.h"
#include "tools/mlc/Failure.h"
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

static llvm::Error addTensors(llvm::ArrayRef<mlc_port> ports,
                              std::vector<HostTensor> &tensors) {
  for (const mlc_port &port : ports) {
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
  bool accumulates = entries.accumulate > 1;
  auto take = [&](size_t count, std::vector<HostTensor> &tensors) {
    llvm::Error error = addTensors(ports.take_back(count), tensors);
    ports = ports.drop_back(count);
    return error;
  };
  if (accumulates) {
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
  if (!ports.empty() && ports.back().rank == 0 &&
      ports.back().type == MLC_U64 &&
      ports.back().name == llvm::StringRef("step")) {
    if (llvm::Error error = take(1, counter))
      return error;
  }
  return addTensors(ports, batch);
}

llvm::Error Trainer::setState(size_t index, const HostTensor &value) {
  if (mlc_status status = mlc_session_set_state(
          first->get(), index, value.type, value.dims.size(), value.dims.data(),
          value.data.get(), MLC_SPACE_HOST))
    return runtimeFailure(built->name(), status);
  return llvm::Error::success();
}

/// Sums of gradients belong to a step, and to no checkpoint.
llvm::Error Trainer::addStates(llvm::ArrayRef<HostTensor> values) {
  for (bool weights : {true, false})
    for (size_t i = 0, n = mlc_artifact_state_count(built->get()); i < n; ++i) {
      mlc_port port;
      if (mlc_status status = mlc_artifact_state(built->get(), i, &port))
        return runtimeFailure(built->name(), status);
      llvm::StringRef name = port.name;
      if (name.starts_with("gradient/") ||
          name.starts_with("weight/") != weights)
        continue;
      if (weights)
        if (llvm::Error error = setState(i, values[states.size()]))
          return error;
      names.push_back(name.str());
      states.push_back(i);
    }
  return llvm::Error::success();
}

/// Everything is bound once: steps change the contents.
llvm::Error Trainer::openEntries() {
  std::vector<HostTensor> inputs(batch);
  llvm::append_range(inputs, counter);
  llvm::append_range(inputs, scales);
  llvm::append_range(inputs, entries.accumulate > 1 ? keep : scalars);
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
  if (entries.accumulate > 1) {
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
Trainer::create(const Model &built, const OptimizerOptions &optimizer,
                const LossScale &lossScale, const TrainingEntries &entries,
                llvm::ArrayRef<HostTensor> values, const std::string &device,
                unsigned threads) {
  Trainer trainer;
  trainer.built = &built;
  trainer.optimizer = optimizer;
  trainer.lossScale = lossScale;
  trainer.entries = entries;
  if (llvm::Error error = trainer.addInputs())
    return error;
  auto session = Session::create(built, device, threads);
  if (!session)
    return session.takeError();
  trainer.first.emplace(std::move(*session));
  if (llvm::Error error = trainer.addStates(values))
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

void Trainer::setScalars(const LearningRate &rate) {
  // As if steps that change nothing were none.
  double t = double(done + 1 - lossScale.getSkipped());
  llvm::SmallVector<double> numbers = {rate.at(done),
                                       1 - std::pow(optimizer.beta1, t),
                                       1 - std::pow(optimizer.beta2, t)};
  numbers.resize(scalarsOf(optimizer.kind).size());
  numbers.push_back(lossScale.getScale());
  for (auto [scalar, number] : llvm::zip(scalars, numbers))
    setNumber(scalar, number);
  for (const HostTensor &scale : scales)
    setNumber(scale, lossScale.getScale());
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

/// The loss of batch `number` of all that are ever taken.
llvm::Expected<double> Trainer::runBatch(TrainingData &data, uint64_t seed,
                                         int64_t number, Session &session) {
  data.fill(seed, number, batch);
  if (llvm::Error error = session.run())
    return error;
  return readNumber(session, 0);
}

llvm::Expected<double> Trainer::run(TrainingData &data, uint64_t seed,
                                    const LearningRate &rate) {
  setScalars(rate);
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
  if (apply)
    if (llvm::Error error = apply->run())
      return error;
  if (llvm::Error error = updateScale())
    return error;
  ++done;
  if (!allocated)
    allocated = allocations();
  return sum / double(entries.accumulate);
}

llvm::Expected<double> Trainer::evaluate(TrainingData &data) {
  int64_t batches = data.samples() / data.batch();
  double sum = 0;
  for (int64_t i = 0; i < batches; ++i) {
    auto loss = runBatch(data, /*seed=*/0, i, *evaluation);
    if (!loss)
      return loss.takeError();
    sum += *loss;
  }
  return sum / double(batches);
}

uint64_t Trainer::allocations() const {
  return mlc_session_allocation_count(first->get()) +
         (apply ? mlc_session_allocation_count(apply->get()) : 0);
}

llvm::Expected<TrainingMemory> Trainer::memory() const {
  TrainingMemory memory;
  for (size_t i = 0, n = mlc_artifact_state_count(built->get()); i < n; ++i) {
    mlc_port port;
    if (mlc_status status = mlc_artifact_state(built->get(), i, &port))
      return runtimeFailure(built->name(), status);
    uint64_t bytes = mlc_dtype_size(port.type);
    for (size_t d = 0; d < port.rank; ++d)
      bytes *= port.dims[d];
    memory.states += bytes;
  }
  for (const std::optional<Session> *session : {&first, &apply}) {
    if (!*session)
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

llvm::Expected<Checkpoint> Trainer::checkpoint() {
  Checkpoint now;
  now.step = done;
  now.lossScale = lossScale;
  now.names = names;
  for (size_t index : states) {
    mlc_tensor tensor;
    if (mlc_status status = mlc_session_state(first->get(), index, &tensor))
      return runtimeFailure(built->name(), status);
    auto *data = static_cast<char *>(const_cast<void *>(tensor.data));
    // The session's own memory.
    now.values.push_back(
        {tensor.type,
         std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank),
         std::shared_ptr<char>(std::shared_ptr<char>(), data), tensor.bytes});
  }
  return now;
}

llvm::Error Trainer::restore(const Checkpoint &from) {
  for (auto [index, value] : llvm::zip(states, from.values))
    if (llvm::Error error = setState(index, value))
      return error;
  done = from.step;
  lossScale = from.lossScale;
  return llvm::Error::success();
}

template <typename T> static bool isFinite(const HostTensor &tensor) {
  const T *data = reinterpret_cast<const T *>(tensor.data.get());
  return std::all_of(data, data + tensor.bytes / sizeof(T),
                     [](T x) { return std::isfinite(x); });
}

llvm::Expected<std::string> Trainer::findInfinite() {
  auto now = checkpoint();
  if (!now)
    return now.takeError();
  for (auto [name, value] : llvm::zip(now->names, now->values))
    if (!(value.type == MLC_F64 ? isFinite<double>(value)
                                : isFinite<float>(value)))
      return name;
  return std::string();
}

const HostTensor *Trainer::findInput(llvm::StringRef name) const {
  for (auto [port, tensor] : llvm::zip(dataPorts(), batch))
    if (port.name == name)
      return &tensor;
  return nullptr;
}
