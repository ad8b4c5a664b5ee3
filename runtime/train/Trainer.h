//===- Trainer.h - Steps of training ----------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_TRAINER_H
#define MLC_RUNTIME_TRAIN_TRAINER_H

#include "runtime/train/BatchSource.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/Group.h"
#include "runtime/train/Program.h"
#include "runtime/train/Samples.h"
#include "runtime/train/StepSchedule.h"

namespace mlc::runtime::train {

/// What training takes, in bytes.
struct TrainingMemory {
  /// Weights, what optimizers keep, sums of gradients: this rank's.
  uint64_t states = 0;
  uint64_t arena = 0; ///< of the entries of a step, together
  uint64_t bound = 0; ///< no arena is smaller: what is alive at one time
  /// How often steps after the first have allocated or planned.
  uint64_t allocations = 0;
};

/// On samples that are not trained on.
struct Evaluation {
  double loss = 0;
  /// The share of the labels that count whose class has the largest output;
  /// nothing where the artifact does not count them.
  std::optional<double> accuracy;
};

struct TrainerOptions {
  /// The model's file, with which messages begin.
  std::string name;
  std::string device; ///< empty: the first
  unsigned threads = 0;
  Group group;
  Spelling spelling = Spelling::Flags;
};

/// Runs the entries of an artifact that has runtime::Training: weights and what
/// the optimizer keeps of them are states, which steps change where they are.
/// Of several ranks each has a trainer; all make the same calls in the same
/// order.
class Trainer {
public:
  /// Errors: an artifact that does not train; those of a session.
  static Status create(mlc_artifact *artifact, TrainerOptions options,
                       std::unique_ptr<Trainer> &trainer);

  const Training &training() const { return program.training(); }
  const Group &group() const { return options.group; }
  const TrainerOptions &getOptions() const { return options; }
  const TrainingProgram &getProgram() const { return program; }
  /// What a step does.
  const StepSchedule &schedule() const { return actions; }
  mlc_session *session() const { return first.session.get(); }
  /// The samples of a batch that this rank takes.
  SamplePart samplePart() const;
  /// What this rank's samples are given in, in the order of
  /// Training::samples.
  const std::vector<HostTensor> &batch() const { return inputs.data; }

  /// How many steps are done, and the same as somebody else says.
  int64_t step() const { return done; }
  void setStep(int64_t steps) { done = steps; }
  const LossScale &scale() const { return lossScale; }
  void setScale(double scale) { lossScale.setScale(scale); }

  /// The next step; `loss` is that before it, the mean of those of all its
  /// batches.
  Status run(BatchSource &source, double rate, double &loss);
  /// The two halves of a step, where entries are apart: the actions that read
  /// batches, after which states hold gradients, and the losses' mean;
  Status computeGradients(BatchSource &source, double &loss);
  /// and the others, which change the weights. `number` counts the updates,
  /// from 0; `scale` is what gradients were scaled by.
  Status applyGradients(double rate, int64_t number, double scale);
  /// Of the first `batches` batches the mean of the losses, over labels where
  /// there are some. Errors: the artifact has no entry for it.
  Status evaluate(BatchSource &source, int64_t batches, Evaluation &found);

  /// An error where the loss of the last step is no finite number, which says
  /// why, or where no step changes anything any more; `resumes`: there is a
  /// checkpoint to go on from.
  Status check(double loss, BatchSource &source, bool resumes) const;

  /// Weights and states: those that are split brought together on the first
  /// rank, the others where they are, valid until the next step.
  Status checkpoint(Checkpoint &now) const;
  /// The same without what they hold.
  Checkpoint outline() const;
  /// An error, on all ranks, where a weight or a state is not finite.
  Status checkFinite(const Checkpoint &now) const;
  /// Goes on from there.
  Status restore(const Checkpoint &from);
  /// One of the values of a checkpoint, by its place there.
  Status getKept(size_t place, HostTensor &value) const {
    return named(getState(program.kept()[place], value));
  }
  Status setKept(size_t place, const HostTensor &whole) {
    return named(setState(program.kept()[place], whole));
  }

  Status memory(TrainingMemory &memory) const;
  /// Bytes that this rank has sent in steps.
  uint64_t bytesSent() const { return sent; }

private:
  /// What the first entry and "apply" read beside states, by its role.
  struct Inputs {
    std::vector<HostTensor> data, all, apply;
    const HostTensor *find(InputRole role) const;
    std::vector<std::pair<InputRole, HostTensor>> numbers;
  };

  Status addInputs();
  Status openEntries(mlc_artifact *artifact);
  Status setState(size_t index, const HostTensor &value);
  Status getState(size_t index, HostTensor &value) const;
  Status runBatch(BatchSource &source, int64_t number, OpenEntry &entry,
                  double &loss);
  Status runRest();
  Status updateScale();
  void setNumber(InputRole role, double value);
  void setScalars(double rate, int64_t number, double scale);
  int64_t countLabels(const BatchSource &source, int64_t step) const;
  uint64_t allocations() const;
  std::string whyLost(BatchSource &source) const;
  Status named(Status status) const;

  TrainerOptions options;
  TrainingProgram program;
  StepSchedule actions;
  OpenEntry first, apply, evaluation;
  Inputs inputs;
  LossScale lossScale;
  int64_t done = 0;
  bool hasComputed = false;
  uint64_t sent = 0;
  /// After the first step.
  std::optional<uint64_t> allocated;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_TRAINER_H
