//===- Trainer.cpp - Steps of training ------------------------------------===//

#include "tools/mlc/Trainer.h"
#include "tools/mlc/Failure.h"
#include <cmath>
#include <cstring>
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

size_t Trainer::valueCount() const {
  // Beside the loss and whether gradients were finite.
  return built->outputs().size() - 1 - optimizer.scalesLoss;
}

llvm::ArrayRef<mlc_port> Trainer::dataPorts() const {
  return llvm::ArrayRef(built->inputs())
      .drop_back(valueCount() + scalars.size());
}

llvm::Expected<Trainer> Trainer::create(const Model &built,
                                        const OptimizerOptions &optimizer,
                                        llvm::ArrayRef<HostTensor> values,
                                        const std::string &device,
                                        unsigned threads) {
  Trainer trainer;
  trainer.built = &built;
  trainer.optimizer = optimizer;
  size_t numScalars = scalarsOf(optimizer.kind).size() + optimizer.scalesLoss;
  auto scalarPorts = llvm::ArrayRef(built.inputs())
                         .drop_back(trainer.valueCount())
                         .take_back(numScalars);
  for (const mlc_port &port : scalarPorts) {
    auto scalar = HostTensor::zeros(port.type, {});
    if (!scalar)
      return scalar.takeError();
    trainer.scalars.push_back(std::move(*scalar));
  }
  // Samples have dims.
  if (llvm::ArrayRef<mlc_port> ports = trainer.dataPorts();
      !ports.empty() && ports.back().rank == 0 &&
      ports.back().type == MLC_U64 &&
      ports.back().name == llvm::StringRef("step")) {
    auto step = HostTensor::zeros(MLC_U64, {});
    if (!step)
      return step.takeError();
    trainer.scalars.insert(trainer.scalars.begin(), std::move(*step));
    trainer.takesStep = true;
  }
  for (const mlc_port &port : trainer.dataPorts()) {
    auto dims = portDims(port, {});
    if (!dims)
      return dims.takeError();
    auto tensor = HostTensor::zeros(port.type, std::move(*dims));
    if (!tensor)
      return tensor.takeError();
    trainer.batch.push_back(std::move(*tensor));
  }
  for (auto [i, port] : llvm::enumerate(
           llvm::ArrayRef(built.outputs()).slice(1, trainer.valueCount()))) {
    bool isWeight = i < values.size();
    for (std::vector<HostTensor> *memory :
         {&trainer.current.values, &trainer.next}) {
      auto tensor = HostTensor::zeros(
          port.type, std::vector<int64_t>(port.dims, port.dims + port.rank));
      if (!tensor)
        return tensor.takeError();
      if (isWeight)
        std::memcpy(tensor->data.get(), values[i].data.get(), tensor->bytes);
      memory->push_back(std::move(*tensor));
    }
    trainer.current.names.push_back((isWeight ? "weight/" : "") +
                                    std::string(port.name));
  }
  auto session = Session::create(built, device, threads);
  if (!session)
    return session.takeError();
  trainer.session.emplace(std::move(*session));
  return trainer;
}

llvm::Error Trainer::bind() {
  std::vector<HostTensor> inputs(batch);
  llvm::append_range(inputs, scalars);
  llvm::append_range(inputs, current.values);
  if (llvm::Error error = session->bind(std::move(inputs)))
    return error;
  for (auto [i, tensor] : llvm::enumerate(next))
    if (mlc_status status =
            mlc_session_bind_output(session->get(), i + 1, tensor.data.get(),
                                    tensor.bytes, MLC_SPACE_HOST))
      return runtimeFailure(built->name(), status);
  return llvm::Error::success();
}

static double numberOf(const mlc_tensor &tensor) {
  return tensor.type == MLC_F64 ? *static_cast<const double *>(tensor.data)
                                : *static_cast<const float *>(tensor.data);
}

llvm::Expected<double> Trainer::step(TrainingData &data, uint64_t seed,
                                     const LearningRate &rate) {
  data.fill(seed, current.step, batch);
  // As if steps that change nothing were none.
  double t = double(current.step + 1 - current.lossScale.getSkipped());
  llvm::SmallVector<double> numbers = {rate.at(current.step),
                                       1 - std::pow(optimizer.beta1, t),
                                       1 - std::pow(optimizer.beta2, t)};
  numbers.resize(scalarsOf(optimizer.kind).size());
  if (optimizer.scalesLoss)
    numbers.push_back(current.lossScale.getScale());
  if (takesStep)
    *reinterpret_cast<uint64_t *>(scalars[0].data.get()) = current.step;
  for (auto [scalar, number] :
       llvm::zip(llvm::ArrayRef(scalars).drop_front(takesStep), numbers))
    if (scalar.type == MLC_F64)
      *reinterpret_cast<double *>(scalar.data.get()) = number;
    else
      *reinterpret_cast<float *>(scalar.data.get()) = float(number);
  if (llvm::Error error = bind())
    return error;
  if (llvm::Error error = session->run())
    return error;
  auto loss = session->output(0);
  if (!loss)
    return loss.takeError();
  std::swap(current.values, next);
  ++current.step;
  if (optimizer.scalesLoss) {
    auto finite = session->output(built->outputs().size() - 1);
    if (!finite)
      return finite.takeError();
    current.lossScale.update(numberOf(*finite) != 0);
  }
  return numberOf(*loss);
}

template <typename T> static bool isFinite(const HostTensor &tensor) {
  const T *data = reinterpret_cast<const T *>(tensor.data.get());
  return std::all_of(data, data + tensor.bytes / sizeof(T),
                     [](T x) { return std::isfinite(x); });
}

std::string Trainer::findInfinite() const {
  for (auto [name, value] : llvm::zip(current.names, current.values))
    if (!(value.type == MLC_F64 ? isFinite<double>(value)
                                : isFinite<float>(value)))
      return name;
  return "";
}

const HostTensor *Trainer::findInput(llvm::StringRef name) const {
  for (auto [port, tensor] : llvm::zip(dataPorts(), batch))
    if (port.name == name)
      return &tensor;
  return nullptr;
}
