//===- Trainer.h - Steps of training ----------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINER_H
#define MLC_TOOLS_MLC_TRAINER_H

#include "tools/mlc/Checkpoint.h"
#include "tools/mlc/Session.h"
#include "tools/mlc/TrainingData.h"
#include "tools/mlc/TrainingFlags.h"
#include "tools/mlc/TrainingRanks.h"

namespace mlc::cli {

enum class Schedule { Constant, Linear, Cosine };

/// The learning rate of each step.
struct LearningRate {
  double rate = 0;
  Schedule schedule = Schedule::Constant;
  /// Steps in which the rate grows from nothing, linearly.
  int64_t warmup = 0;
  /// The schedule ends at 0 behind the last of these.
  int64_t steps = 0;

  /// Of step `step`, from 0.
  double at(int64_t step) const;
};

/// What training takes, in bytes.
struct TrainingMemory {
  /// Weights, what optimizers keep, sums of gradients: this rank's.
  uint64_t states = 0;
  uint64_t arena = 0; ///< of the entries of a step, together
  uint64_t bound = 0; ///< no arena is smaller: what is alive at one time
  /// How often steps after the first have allocated or planned.
  uint64_t allocations = 0;
};

/// Runs the entries that addTrainingEntries described: weights and what the
/// optimizer keeps of them are states, which steps change where they are. Of
/// several ranks each has a trainer; all make the same calls in the same order.
class Trainer {
public:
  /// `built`, of `read`, outlives the trainer, as `ranks` does.
  static llvm::Expected<Trainer>
  create(const Model &built, const TrainingModel &read,
         const TrainingEntries &entries, const TrainingRanks &ranks,
         const std::string &device, unsigned threads);

  const TrainingRanks &ranks() const { return *group; }
  /// The inputs that samples are given to, the target among them.
  llvm::ArrayRef<mlc_port> dataPorts() const;
  /// The samples of a batch that this rank takes.
  SamplePart samplePart() const;
  /// How many steps are done.
  int64_t step() const { return done; }
  const LossScale &scale() const { return lossScale; }

  /// Weights, then states, by the names of a checkpoint: those that are split
  /// brought together on the first rank, the others where they are, valid until
  /// the next step.
  llvm::Expected<Checkpoint> checkpoint();
  /// The same without what they hold.
  Checkpoint outline() const;
  /// Goes on from there.
  llvm::Error restore(const Checkpoint &from);
  /// What the last step read for an input; null where there is none.
  const HostTensor *findInput(llvm::StringRef name) const;

  /// The next step; returns the loss before it, the mean of those of all its
  /// batches.
  llvm::Expected<double> run(TrainingData &data, uint64_t seed,
                             const LearningRate &rate);

  /// The two halves of a step, where entries are apart: the gradients of its
  /// batches, which the states "gradient/" hold then, and their losses' mean;
  llvm::Expected<double> computeGradients(TrainingData &data, uint64_t seed);
  /// and what they do to the weights. `number` counts the updates, from 0;
  /// `scale` is what gradients were scaled by.
  llvm::Error applyGradients(double rate, int64_t number, double scale);
  /// So many steps are done.
  void setStep(int64_t steps) { done = steps; }
  void setScale(double scale) { lossScale.setScale(scale); }
  mlc_session *session() const { return first->get(); }
  const Model &model() const { return *built; }
  const TrainingModel &training() const { return *read; }

  /// Which of the data ports has labels that may not count.
  std::optional<size_t> labels() const;
  /// How many labels count in update `number`, of all ranks.
  int64_t countLabels(const TrainingData &data, uint64_t seed,
                      int64_t number) const;

  /// The mean of the losses of all whole batches of `data`, over labels where
  /// it has some.
  llvm::Expected<double> evaluate(TrainingData &data);

  llvm::Expected<TrainingMemory> memory() const;
  /// Bytes that this rank has sent in steps.
  uint64_t bytesSent() const { return sent; }

private:
  /// A state of a checkpoint.
  struct KeptState {
    std::string name;
    size_t index; ///< of the artifact
    mlc_dtype type;
    std::vector<int64_t> dims; ///< of the whole
    std::optional<unsigned> splitDim;
    /// The state that is this one rounded, if it is kept.
    std::shared_ptr<KeptState> rounded;
  };

  llvm::Error addInputs();
  llvm::Error addTensors(llvm::ArrayRef<mlc_port> ports,
                         std::vector<HostTensor> &tensors) const;
  llvm::Expected<std::vector<KeptState>> listStates() const;
  llvm::Error addStates();
  llvm::Error openEntries();
  llvm::Error setState(const KeptState &state, const HostTensor &value);
  llvm::Expected<double> runBatch(TrainingData &data, uint64_t seed,
                                  int64_t batch, Session &session);
  llvm::Error updateScale();
  void setScalars(double rate, int64_t number, double scale);
  uint64_t allocations() const;

  const Model *built = nullptr;
  const TrainingModel *read = nullptr;
  const TrainingRanks *group = nullptr;
  OptimizerOptions optimizer;
  LossScale lossScale;
  TrainingEntries entries;
  std::unique_ptr<Model> applying, evaluating;
  std::optional<Session> first, apply, evaluation;
  /// Inputs of the first entry: samples, where it is told how many labels
  /// count, where random numbers are drawn the number of the batch, where
  /// gradients are states whether to keep them.
  std::vector<HostTensor> batch, count, counter, keep;
  /// What the optimizer reads, and of the entry "accumulate" what the loss is
  /// scaled by.
  std::vector<HostTensor> scalars, scales;
  std::vector<KeptState> states;
  int64_t done = 0;
  bool hasComputed = false;
  uint64_t sent = 0;
  /// After the first step.
  std::optional<uint64_t> allocated;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINER_H
