//===- Api.cpp - The C ABI of the trainer ---------------------------------===//

#include "runtime/ApiCall.h"
#include "runtime/ApiOptions.h"
#include "runtime/mlc_train.h"
#include "runtime/train/ArrayBatches.h"
#include "runtime/train/GuardedStep.h"
#include "runtime/train/Loop.h"
#include "runtime/train/TrainingLog.h"

#include <algorithm>
#include <limits>

using namespace mlc::runtime;
using namespace mlc::runtime::api;
using namespace mlc::runtime::train;

struct mlc_trainer {
  std::unique_ptr<Trainer> impl;
  std::vector<std::vector<const char *>> texts; ///< texts of the inputs' dims
  std::vector<std::vector<int64_t>> dims;
  /// The value of the last requested state.
  HostTensor value;
};

struct mlc_samples {
  Samples impl;
};

//===----------------------------------------------------------------------===//
// Trainers
//===----------------------------------------------------------------------===//

mlc_status mlc_trainer_create(mlc_artifact *artifact,
                              const mlc_trainer_options *options,
                              mlc_trainer **trainer) {
  if (!artifact || !trainer)
    return nullArgument();
  return guarded([&] {
    mlc_trainer_options known = MLC_TRAINER_OPTIONS_INIT;
    Status status =
        readOptions(options, sizeof(known), "MLC_TRAINER_OPTIONS_INIT", known);
    if (!status.ok())
      return status;
    TrainerOptions how;
    how.name = known.name ? known.name : "";
    how.device = known.device ? known.device : "";
    how.threads = known.threads;
    if (known.ranks)
      how.group = Group(known.ranks->impl);
    how.spelling = Spelling::Keywords;
    auto made = std::make_unique<mlc_trainer>();
    status = Trainer::create(artifact, std::move(how), made->impl);
    if (!status.ok())
      return status;
    for (const SamplePort &port : made->impl->training().samples) {
      std::vector<const char *> &texts = made->texts.emplace_back();
      for (const std::string &text : port.texts)
        texts.push_back(text.c_str());
      made->dims.push_back(port.dims);
      made->dims.back().front() = made->impl->training().batch;
    }
    *trainer = made.release();
    return status;
  });
}

void mlc_trainer_destroy(mlc_trainer *trainer) { delete trainer; }

size_t mlc_trainer_input_count(const mlc_trainer *trainer) {
  return trainer ? trainer->dims.size() : 0;
}

mlc_status mlc_trainer_input(const mlc_trainer *trainer, size_t index,
                             mlc_port *port) {
  if (!trainer || !port)
    return nullArgument();
  return guarded([&] {
    if (index >= trainer->dims.size())
      return Status::error(MLC_USAGE,
                           "there is no input " + std::to_string(index));
    const SamplePort &sample = trainer->impl->training().samples[index];
    *port = {sample.name.c_str(), sample.type, trainer->dims[index].size(),
             trainer->dims[index].data(), trainer->texts[index].data()};
    return Status::success();
  });
}

size_t mlc_trainer_batches_of_step(const mlc_trainer *trainer) {
  return trainer ? trainer->impl->training().accumulate : 0;
}

uint64_t mlc_trainer_steps(const mlc_trainer *trainer) {
  return trainer ? trainer->impl->step() : 0;
}

uint64_t mlc_trainer_skipped(const mlc_trainer *trainer) {
  return trainer ? trainer->impl->scale().getSkipped() : 0;
}

double mlc_trainer_loss_scale(const mlc_trainer *trainer) {
  return trainer && trainer->impl->scale().isOn()
             ? trainer->impl->scale().getScale()
             : 1;
}

double mlc_learning_rate(int schedule, double rate, uint64_t warmup,
                         uint64_t steps, uint64_t step) {
  if (schedule < MLC_RATE_CONSTANT || schedule > MLC_RATE_COSINE)
    return 0;
  return LearningRate{rate, RateSchedule(schedule), int64_t(warmup),
                      int64_t(steps)}
      .at(int64_t(step));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static Status checkRate(double rate) {
  return rate >= 0 && rate <= std::numeric_limits<double>::max()
             ? Status::success()
             : Status::error(MLC_USAGE, "the learning rate is " +
                                            std::to_string(rate) +
                                            "; give a number from 0 on");
}

/// Runs a step on the source's batches; MLC_DIFFERS if the loss is not finite.
static Status step(Trainer &trainer, BatchSource &source, double rate,
                   double &loss) {
  Status status = checkRate(rate);
  return status.ok() ? runGuarded(trainer, source, rate, loss) : status;
}

mlc_status mlc_trainer_step(mlc_trainer *trainer, const mlc_tensor *batches,
                            double rate, double *loss) {
  if (!trainer || !batches || !loss)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    std::optional<ArrayBatches> source;
    Status status =
        ArrayBatches::make(impl.training(), batches, impl.training().accumulate,
                           impl.samplePart(), source);
    return status.ok() ? step(impl, *source, rate, *loss) : status;
  });
}

mlc_status mlc_trainer_evaluate(mlc_trainer *trainer, const mlc_tensor *batch,
                                double *loss, double *count) {
  if (!trainer || !batch || !loss || !count)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    std::optional<ArrayBatches> source;
    Status status = ArrayBatches::make(impl.training(), batch, /*count=*/1,
                                       impl.samplePart(), source);
    if (!status.ok())
      return status;
    const double weight =
        impl.training().labels ? double(source->countLabels(0)) : 1;
    Evaluation found;
    if (weight > 0)
      status = impl.evaluate(*source, /*batches=*/1, found);
    if (status.ok()) {
      *loss = found.loss;
      *count = weight;
    }
    return status;
  });
}

mlc_status mlc_samples_open(const mlc_trainer *trainer, const char *path,
                            mlc_samples **samples) {
  if (!trainer || !path || !samples)
    return nullArgument();
  return guarded([&] {
    auto made = std::make_unique<mlc_samples>();
    Status status = Samples::read(path, trainer->impl->training(),
                                  Spelling::Keywords, made->impl);
    if (status.ok())
      *samples = made.release();
    return status;
  });
}

mlc_status mlc_samples_copy(const mlc_trainer *trainer,
                            const mlc_tensor *arrays, mlc_samples **samples) {
  if (!trainer || !arrays || !samples)
    return nullArgument();
  return guarded([&] {
    const Training &training = trainer->impl->training();
    std::vector<HostTensor> copies;
    for (size_t i = 0; i < training.samples.size(); ++i) {
      HostTensor view = viewOf(arrays[i]), copy;
      Status status = checkTensor(arrays[i], training.samples[i], -1);
      if (status.ok())
        status = HostTensor::zeros(view.type, view.dims, copy);
      if (!status.ok())
        return status;
      std::copy_n(view.data.get(), view.bytes, copy.data.get());
      copies.push_back(std::move(copy));
    }
    auto made = std::make_unique<mlc_samples>();
    Status status = Samples::of(std::move(copies), training, made->impl);
    if (status.ok())
      *samples = made.release();
    return status;
  });
}

void mlc_samples_close(mlc_samples *samples) { delete samples; }

size_t mlc_samples_count(const mlc_samples *samples) {
  return samples ? samples->impl.size() : 0;
}

mlc_status mlc_trainer_step_samples(mlc_trainer *trainer,
                                    const mlc_samples *samples, uint64_t seed,
                                    double rate, double *loss) {
  if (!trainer || !samples || !loss)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    Status status = samples->impl.checkFor(impl.training());
    if (!status.ok())
      return status;
    SampleOrder source(samples->impl, impl.samplePart(), seed,
                       impl.training().labels);
    return step(impl, source, rate, *loss);
  });
}

mlc_status mlc_trainer_evaluate_samples(mlc_trainer *trainer,
                                        const mlc_samples *samples,
                                        double *loss) {
  if (!trainer || !samples || !loss)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    Status status = samples->impl.checkFor(impl.training());
    if (!status.ok())
      return status;
    SampleOrder source(samples->impl, impl.samplePart(), /*seed=*/0,
                       impl.training().labels);
    bool counts = !impl.training().labels;
    for (int64_t i = 0; i < source.batches() && !counts; ++i)
      counts = source.countLabels(i) > 0;
    if (!counts)
      return Status::error(MLC_USAGE,
                           "there is nothing to evaluate: all labels of the "
                           "samples are negative, which do not count");
    Evaluation found;
    status = impl.evaluate(source, source.batches(), found);
    if (status.ok())
      *loss = found.loss;
    return status;
  });
}

//===----------------------------------------------------------------------===//
// Weights, states and checkpoints
//===----------------------------------------------------------------------===//

size_t mlc_trainer_state_count(const mlc_trainer *trainer) {
  return trainer ? trainer->impl->getProgram().kept().size() : 0;
}

static Status checkState(const mlc_trainer &trainer, size_t index) {
  return index < trainer.impl->getProgram().kept().size()
             ? Status::success()
             : Status::error(MLC_USAGE,
                             "there is no state " + std::to_string(index));
}

mlc_status mlc_trainer_state(const mlc_trainer *trainer, size_t index,
                             mlc_trained_state *found) {
  if (!trainer || !found)
    return nullArgument();
  return guarded([&] {
    if (Status status = checkState(*trainer, index); !status.ok())
      return status;
    const TrainingProgram &program = trainer->impl->getProgram();
    const size_t at = program.kept()[index];
    const State &state = program.state(at);
    const Artifact::PortText &text = program.artifact().stateText(at);
    *found = {{state.name.c_str(), static_cast<mlc_dtype>(state.type),
               state.dims.size(), state.dims.data(), text.pointers.data()},
              name(state.role),
              state.owner.c_str()};
    return Status::success();
  });
}

mlc_status mlc_trainer_get_state(mlc_trainer *trainer, size_t index,
                                 mlc_tensor *tensor) {
  if (!trainer || !tensor)
    return nullArgument();
  return guarded([&] {
    Status status = checkState(*trainer, index);
    if (status.ok())
      status = trainer->impl->getKept(index, trainer->value);
    if (!status.ok())
      return status;
    const HostTensor &value = trainer->value;
    *tensor = {
        value.type, value.dims.size(), {}, value.data.get(), value.bytes};
    std::copy(value.dims.begin(), value.dims.end(), tensor->dims);
    return status;
  });
}

mlc_status mlc_trainer_set_state(mlc_trainer *trainer, size_t index,
                                 const mlc_tensor *tensor) {
  if (!trainer || !tensor)
    return nullArgument();
  return guarded([&] {
    if (Status status = checkState(*trainer, index); !status.ok())
      return status;
    const TrainingProgram &program = trainer->impl->getProgram();
    const State &state = program.state(program.kept()[index]);
    const HostTensor value = viewOf(*tensor);
    if (value.type != static_cast<mlc_dtype>(state.type) ||
        value.dims != state.dims || value.bytes != state.size ||
        (value.bytes && !value.data))
      return Status::error(MLC_USAGE, "'" + printable(state.name) +
                                          "' has another type or other dims");
    return trainer->impl->setKept(index, value);
  });
}

/// What a checkpoint depends on.
static std::string settings(const Trainer &trainer, const mlc_samples *samples,
                            uint64_t seed) {
  return checkpointSettings(trainer.training(),
                            samples ? samples->impl.hash() : "of the caller's",
                            seed);
}

/// Waits for the status of all ranks. Returns this rank's error, or one if
/// another rank failed or is at another step.
static Status together(const Group &group, Status own, int64_t step) {
  std::vector<int64_t> all;
  if (group.size() == 1)
    return own;
  Status status = group.gather({own.ok(), own.ok() ? step : 0}, all);
  if (!own.ok() || !status.ok())
    return own.ok() ? status : own;
  for (int r = 0; r < group.size(); ++r) {
    if (!all[2 * r])
      return Status::error(MLC_USAGE, "rank " + std::to_string(r) +
                                          " has failed, and says why");
    if (all[2 * r + 1] != step)
      return Status::error(
          MLC_USAGE,
          "the checkpoint is of step " + std::to_string(step) +
              " here, and of " + std::to_string(all[2 * r + 1]) + " on rank " +
              std::to_string(r) +
              "; give all ranks the same, on a disk that they share");
  }
  return status;
}

mlc_status mlc_trainer_save(mlc_trainer *trainer, const mlc_samples *samples,
                            uint64_t seed, const char *path) {
  if (!trainer || !path)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    Checkpoint now;
    Status status = impl.checkpoint(now);
    if (status.ok())
      status = impl.checkFinite(now);
    now.settings = settings(impl, samples, seed);
    if (status.ok() && impl.group().isFirst())
      status = writeCheckpoint(path, now);
    return together(impl.group(), std::move(status), now.step);
  });
}

mlc_status mlc_trainer_load(mlc_trainer *trainer, const mlc_samples *samples,
                            uint64_t seed, const char *path) {
  if (!trainer || !path)
    return nullArgument();
  return guarded([&] {
    Trainer &impl = *trainer->impl;
    Checkpoint state = impl.outline();
    state.settings = settings(impl, samples, seed);
    Status status =
        together(impl.group(), readCheckpoint(path, Spelling::Keywords, state),
                 state.step);
    return status.ok() ? impl.restore(state) : status;
  });
}

//===----------------------------------------------------------------------===//
// A log
//===----------------------------------------------------------------------===//

struct mlc_training_log {
  TrainingLog impl;
  /// The skipped steps up to the previous row.
  int64_t skipped;
};

mlc_status mlc_training_log_open(const mlc_trainer *trainer, const char *place,
                                 mlc_training_log **log) {
  if (!trainer || !place || !log)
    return nullArgument();
  return guarded([&] {
    const Trainer &impl = *trainer->impl;
    LogPlace found;
    Status status = LogPlace::parse(place, Spelling::Keywords, found);
    if (status.ok())
      status = found.check();
    if (!status.ok())
      return status;
    std::unique_ptr<mlc_training_log> made(new mlc_training_log{
        TrainingLog(std::move(found)), impl.scale().getSkipped()});
    status = made->impl.onBegin(impl.step(), /*isResumed=*/impl.step() > 0);
    if (status.ok())
      *log = made.release();
    return status;
  });
}

mlc_status mlc_training_log_write(mlc_training_log *log,
                                  const mlc_trainer *trainer, double loss,
                                  double rate, double samples_per_second,
                                  const double *held_out_loss) {
  if (!log || !trainer)
    return nullArgument();
  return guarded([&] {
    const Trainer &impl = *trainer->impl;
    const int64_t skipped = impl.scale().getSkipped();
    StepReport report;
    report.step = impl.step();
    report.loss = loss;
    report.rate = rate;
    report.samplesPerSecond = samples_per_second;
    report.setScale(impl.scale(), skipped != log->skipped);
    log->skipped = skipped;
    log->impl.onStep(report);
    if (held_out_loss)
      log->impl.onEvaluation({report.step, *held_out_loss, Metric::None, 0});
    return log->impl.onStepEnd();
  });
}

void mlc_training_log_close(mlc_training_log *log) { delete log; }
