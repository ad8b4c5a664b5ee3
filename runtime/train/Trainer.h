//===- Trainer.h - Steps of training ----------------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_TRAINER_H
#define MLC_RUNTIME_TRAIN_TRAINER_H

#include "runtime/train/BatchSource.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/Group.h"
#include "runtime/train/Program.h"
#include "runtime/train/Samples.h"
#include "runtime/train/StepEntries.h"

namespace mlc::runtime::train {

/// Results on held-out samples.
struct Evaluation {
  double loss = 0;
  /// The share of counted labels whose class has the largest output; nothing if
  /// the artifact does not count them.
  std::optional<double> accuracy;
};

struct TrainerOptions {
  /// The model's file, the prefix of messages.
  std::string name;
  std::string device; ///< empty: the first
  unsigned threads = 0;
  Group group;
  Spelling spelling = Spelling::Flags;
};

/// Runs the entries of an artifact that has runtime::Training. Weights and
/// optimizer states are states of the artifact; steps update them in place.
/// Each rank has a trainer, and all make the same calls in the same order.
class Trainer {
public:
  /// Fails for an artifact that is not for training, and as a session does.
  static Status create(mlc_artifact *artifact, TrainerOptions options,
                       std::unique_ptr<Trainer> &trainer);

  const Training &training() const { return program.training(); }
  const Group &group() const { return options.group; }
  const TrainerOptions &getOptions() const { return options; }
  const TrainingProgram &getProgram() const { return program; }
  /// The actions of a step.
  const StepSchedule &schedule() const { return entries.schedule(); }
  mlc_session *session() const { return entries.session(); }
  /// The samples of a batch that this rank takes.
  SamplePart samplePart() const;
  /// The tensors for this rank's samples, in the order of Training::samples.
  const std::vector<HostTensor> &batch() const { return entries.data(); }

  /// The number of steps done; setStep sets it from outside.
  int64_t step() const { return done; }
  void setStep(int64_t steps) { done = steps; }
  const LossScale &scale() const { return lossScale; }
  void setScale(double scale) { lossScale.setScale(scale); }

  /// Runs the next step; `loss` is the mean loss of its batches before the
  /// update.
  Status run(BatchSource &source, double rate, double &loss);
  /// The two halves of a step with separate entries. The first runs the actions
  /// that read batches; states then hold the gradients. Gives the mean loss.
  Status computeGradients(BatchSource &source, double &loss);
  /// The second runs the others, which change the weights. `number` counts the
  /// updates, from 0; `scale` is the gradients' loss scale.
  Status applyGradients(double rate, int64_t number, double scale);
  /// The mean loss of the first `batches` batches, weighted by labels if there
  /// are any. Fails if the artifact has no entry for it.
  Status evaluate(BatchSource &source, int64_t batches, Evaluation &found);

  /// Why a step, counted from 0, of the source's batches gives no loss; empty
  /// if nothing is wrong: all labels are negative, or a number is not finite,
  /// which some models take. Every rank has all samples, so each can tell.
  std::string whyNoLoss(const BatchSource &source, int64_t step) const;
  std::string whyInfinite(const BatchSource &source, int64_t step) const;
  /// Counts as before a step whose states were put back.
  void goBack(int64_t step, const LossScale &scale) {
    done = step;
    lossScale = scale;
  }
  /// The status, with the model's name.
  Status named(Status status) const;

  /// An error, with the reason, if the last step's loss is not finite, or if
  /// all further steps would be skipped. `resumes`: there is a checkpoint to
  /// resume from.
  Status check(double loss, BatchSource &source, bool resumes) const;

  /// Weights and optimizer states: split ones are joined on rank 0, the others
  /// are views, valid until the next step.
  Status checkpoint(Checkpoint &now) const;
  /// The same without values.
  Checkpoint outline() const;
  /// An error on all ranks if a weight or a state is not finite.
  Status checkFinite(const Checkpoint &now) const;
  /// Resumes from a checkpoint.
  Status restore(const Checkpoint &from);
  /// A value of a checkpoint by its index there.
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
  Status open(mlc_artifact *artifact);
  Status setPart(size_t index, const HostTensor &value);
  Status setState(size_t index, const HostTensor &value);
  Status getState(size_t index, HostTensor &value) const;
  Status updateScale(double *loss);
  Status fetchState(size_t index, HostTensor &value) const;
  Status shareStates();
  void setScalars(double rate, int64_t number, double scale);
  Status runBatches(BatchSource &source, double rate, double &loss);
  int64_t countLabels(const BatchSource &source, int64_t step) const;
  std::string howToConverge() const;

  TrainerOptions options;
  TrainingProgram program;
  StepEntries entries;
  LossScale lossScale;
  int64_t done = 0;
  uint64_t sent = 0;
  /// Whether all ranks have the present states of all stages.
  bool areStatesShared = false;
  /// The allocation count after the first step.
  std::optional<uint64_t> allocated;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_TRAINER_H
