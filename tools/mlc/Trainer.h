//===- Trainer.h - Steps of training ----------------------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAINER_H
#define MLC_TOOLS_MLC_TRAINER_H

#include "tools/mlc/Checkpoint.h"
#include "tools/mlc/Session.h"
#include "tools/mlc/TrainingData.h"
#include "tools/mlc/TrainingFlags.h"

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

/// Runs the steps of an artifact that addTrainingStep described. A step reads
/// weights and states from one memory and leaves them in another; the next goes
/// the other way, so that nothing is copied or allocated.
class Trainer {
public:
  /// `built` outlives the trainer. `values` are the weights' first.
  static llvm::Expected<Trainer> create(const Model &built,
                                        const OptimizerOptions &optimizer,
                                        llvm::ArrayRef<HostTensor> values,
                                        const std::string &device,
                                        unsigned threads);

  /// The inputs that samples are given to, the target among them.
  llvm::ArrayRef<mlc_port> dataPorts() const;
  /// Weights, then states, by the names of a checkpoint.
  Checkpoint &state() { return current; }
  const Checkpoint &state() const { return current; }

  /// The first weight or state that is not finite; empty where all are.
  std::string findInfinite() const;
  /// What the last step read for an input; null where there is none.
  llvm::Expected<mlc_memory> memory() const { return session->memory(); }
  const HostTensor *findInput(llvm::StringRef name) const;

  /// Step `state().step`, which it counts; returns the loss before it.
  llvm::Expected<double> step(TrainingData &data, uint64_t seed,
                              const LearningRate &rate);

private:
  llvm::Error bind();

  const Model *built = nullptr;
  OptimizerOptions optimizer;
  std::optional<Session> session;
  /// Whether the artifact draws random numbers, for a step that it is told.
  bool takesStep = false;
  std::vector<HostTensor> batch, scalars, next;
  Checkpoint current;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAINER_H
