//===- StepEntries.h - The entries of a step, ready to run ------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_STEPENTRIES_H
#define MLC_RUNTIME_TRAIN_STEPENTRIES_H

#include "runtime/train/BatchSource.h"
#include "runtime/train/Carried.h"
#include "runtime/train/Group.h"
#include "runtime/train/Program.h"
#include "runtime/train/StageSums.h"
#include "runtime/train/StepSchedule.h"
#include "runtime/train/WeightVersions.h"

#include <functional>
#include <map>

namespace mlc::runtime::train {

/// The memory of training, in bytes.
struct TrainingMemory {
  /// This rank's weights, optimizer states and gradient sums.
  uint64_t states = 0;
  uint64_t arena = 0;   ///< the sum over the entries of a step, and `carried`
  uint64_t carried = 0; ///< between entries, and messages
  uint64_t sums = 0;    ///< of gradients that several ranks add up
  uint64_t samples = 0; ///< of a micro-batch
  uint64_t scratch = 0; ///< of all threads
  uint64_t bound = 0;   ///< lower bound: bytes alive at one time
  /// How often steps after the first allocated or planned.
  uint64_t allocations = 0;
};

/// Sessions of all entries of an artifact that trains, over one set of states,
/// with their inputs: samples, numbers, and what entries carry to each other.
class StepEntries {
public:
  /// Makes the tensors of samples, of which each batch has `samples`, for the
  /// group's rank. Fails if dims of samples are open, and for stages that do
  /// not fit the group.
  Status addInputs(const TrainingProgram &program, const Group &group,
                   int64_t samples);
  /// Opens the entries; `how` is for the first session.
  Status open(mlc_artifact *artifact, const mlc_session_options &how);

  const StepSchedule &schedule() const { return actions; }
  mlc_session *session() const { return entries.front().session.get(); }
  /// The tensors of samples, in the order of Training::samples.
  const std::vector<HostTensor> &data() const { return samples; }
  bool has(InputRole role) const { return numbers.count(role) != 0; }
  /// Sets an input of all entries that is a single number.
  void setNumber(InputRole role, double value);

  /// Whether stages of the step run on several ranks.
  bool isPipeline() const { return stages.hasTable(); }

  /// The batches of a step that are averaged together for the loss, each with
  /// others of an update, as numbers from 0 on by batch.
  int64_t lossGroupOf(int64_t batch) const;

  /// Runs the actions of the step's batches, with `number` as that of the first
  /// over the whole training; `loss` is the sum of their losses, 0 on a rank
  /// without the loss. An asynchronous schedule's updates are among them, and
  /// `beforeUpdate` is called with the number of each in the step, and how many
  /// of its stage there are in a step.
  Status runBatches(BatchSource &source, int64_t number, double &loss,
                    const std::function<void(int64_t, int64_t)> &beforeUpdate);
  /// Runs the other actions, which change the weights.
  Status runUpdate();
  /// Runs the entry "evaluate" on a batch; gives its loss and, if `right` is
  /// not null, how many labels are right.
  Status evaluate(BatchSource &source, int64_t number, double &loss,
                  double *right);
  bool evaluates() const { return evaluation.has_value(); }
  /// Whether "evaluate" counts right labels.
  bool countsRight() const;
  /// Whether all gradients were finite, of the entries that update; nothing if
  /// none of this rank tells.
  Status readFinite(std::optional<bool> &finite) const;
  /// Gives all ranks the sum of the losses and what readFinite found.
  Status share(double &loss, std::optional<bool> &finite) const;
  /// The ranks of a pipeline that together have all of a state, as those that
  /// change it: one for each part. And whether this rank's steps use it.
  std::vector<int> ranksOfState(size_t state) const;
  bool usesState(size_t state) const;

  /// Adds what the entries that have run in steps take, and what is beside.
  Status addMemory(TrainingMemory &memory) const;
  uint64_t allocations() const;
  /// Bytes of versions of weights.
  uint64_t versionBytes() const { return versions.bytes(); }
  /// Forgets what a failed step has left.
  void reset() { carried.clear(); }

private:
  Status openGroups(Ranks *others) const;
  Status bind(size_t entry);
  Status fill(BatchSource &source, int64_t number);
  Status run(const Action &action);
  Status runBatch(const Action &action, BatchSource &source, int64_t number,
                  double &loss);
  Status runVersionedUpdate(const Action &action);
  void countLabels(const BatchSource &source, int64_t number);
  std::optional<size_t> findOutput(size_t entry, const std::string &name) const;

  const Artifact *artifact = nullptr;
  const Training *training = nullptr;
  Group group;
  Stages stages;
  StepSchedule actions;
  std::vector<OpenEntry> entries;
  /// For each entry, whether it reads samples, and whether a step has run it.
  std::vector<uint8_t> readsSamples, hasRun;
  std::optional<size_t> evaluation;
  std::vector<HostTensor> samples;
  std::map<InputRole, HostTensor> numbers;
  Carried carried;
  StageSums sums;
  WeightVersions versions;
  /// Whether an entry has added to sums of gradients since the last update.
  std::vector<uint8_t> hasGradients;
  /// For each stage and update of it in an asynchronous step, the mean number
  /// of labels of its batches.
  std::vector<std::vector<double>> labels;
  /// The batch that the samples are of.
  std::optional<int64_t> filled;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STEPENTRIES_H
