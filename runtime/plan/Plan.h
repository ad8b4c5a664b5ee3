//===- Plan.h - How a program is split over ranks ---------------*- C++ -*-===//
//
// Flags, a file and Python express the same plan. The phase Distribute
// (passes/Distribute) carries it out, and all ranks of a run compare theirs.
// Its text is JSON (docs/Plan.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PLAN_PLAN_H
#define MLC_RUNTIME_PLAN_PLAN_H

#include "runtime/Status.h"
#include "runtime/Step.h"
#include "runtime/Training.h"
#include "runtime/plan/PlanOrigin.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::runtime {

namespace schedule {
struct Table;
}

/// What is sharded over the ranks besides the batch; each stage includes those
/// before (Rajbhandari et al. 2020).
enum class ZeroStage : uint8_t { None, OptimizerStates, Gradients, Weights };

/// How reductions are fused into buckets.
enum class BucketRule : uint8_t {
  /// A bucket is full once it reaches its limit in bytes.
  DDP,
  /// A bucket has at most its limit in bytes, unless it is a single tensor.
  /// Fitting tensors are searched for among as many following bytes.
  Horovod,
};

struct BucketOptions {
  BucketRule rule = BucketRule::DDP;
  /// The limits of the first bucket of a kind, and of the others. Horovod
  /// treats the first one like the others.
  int64_t firstBytes = int64_t(1) << 20;
  int64_t bytes = int64_t(25) << 20;

  /// The defaults of the rule: 1 and 25 MiB, or 64 MiB.
  static BucketOptions of(BucketRule rule);
  bool operator==(const BucketOptions &other) const {
    return rule == other.rule && firstBytes == other.firstBytes &&
           bytes == other.bytes;
  }
};

/// Whether batch normalization uses the samples of all ranks or the rank's own.
enum class BatchStatistics : uint8_t { Global, Local };

/// The sharding of the tensors that match a pattern: a name, in which * stands
/// for any characters.
struct TensorSharding {
  std::string pattern;
  /// The axes that split each dim, in the order of the mesh; further dims are
  /// replicated.
  std::vector<std::vector<std::string>> axes;

  /// The axes as in flags and files: "data+fsdp,-".
  std::string text() const;
};

/// Bytes of weights that are prefetched by all-gathers.
constexpr int64_t defaultPrefetchLimit = int64_t(64) << 20;

/// The stages that a training step is cut into (docs/Pipelines.md).
struct StagePlan {
  /// How many; 1: the step is whole.
  int64_t count = 1;
  /// The nodes that all stages but the last end with; empty: stages are made
  /// equally heavy.
  std::vector<std::string> ends;
  /// How many ranks run them, in each copy of the pipeline.
  int64_t ranks = 1;
  /// Whether kStageAxis comes before kDataAxis in the mesh: neighbouring ranks
  /// share a stage's samples, rather than a copy of the pipeline.
  bool isOutermost = false;
  /// For each stage the ranks of a copy that run it, ascending; empty: as the
  /// schedule has it. Where no rank is named twice, a schedule by its name runs
  /// the stages there, and the ranks of a stage share its micro-batches; else
  /// the schedule must have it so.
  std::vector<std::vector<int64_t>> places;
  /// For each stage the further axes of the mesh over whose ranks it splits
  /// samples, rather than weights; empty: none does.
  std::vector<std::vector<std::string>> batchAxes;
  /// The schedule by which they do (runtime/schedule/Generate.h); empty: 1f1b,
  /// or interleaved-1f1b if ranks have several stages.
  std::string schedule;
  /// Of asynchronous schedules, as ScheduleOptions has them; 0: not given.
  int64_t updateEvery = 0, inFlight = 0;
  /// Slices of each sequence, of terapipe; 0: not given. A stage and a slice
  /// make a stage of entries and of the table, stage x slices + slice.
  int64_t slices = 0;

  /// Whether a backward pass computes again what it reads of its stage's
  /// forward pass, instead of finding it in memory (Chen et al. 2016).
  bool recomputes = false;
  /// Then, names of nodes whose results it finds all the same; * stands for any
  /// characters.
  std::vector<std::string> keptResults;

  /// How many of `all` ranks run the stages where nothing else is said, so that
  /// the rest makes copies of the pipeline: as many as the table in a file has
  /// lines, or else as there are stages.
  int64_t chooseRanks(int64_t all) const;
  /// Whether `places` name each rank for one stage.
  bool isDealt() const;
  /// Places for so many ranks of each stage, numbered through the stages.
  static std::vector<std::vector<int64_t>>
  placesOf(const std::vector<int64_t> &replicas);
  /// The stages of entries and of the table.
  int64_t countSliced() const { return slices > 1 ? count * slices : count; }
};

/// A model without training, cut into stages: each batch goes through them in
/// micro-batches (docs/Pipelines.md).
struct ForwardPlan {
  StagePlan stages;
  /// Equal parts of a batch, along the first dim of inputs.
  int64_t microBatches = 1;

  /// The table of the forward passes on several ranks: those of the schedule,
  /// or of a table in a file. MLC_USAGE for a schedule whose passes are not of
  /// whole stages with one version of weights; MLC_BAD_FILE names the file.
  Status makeTable(schedule::Table &table) const;
};

/// Training with the batch split over ranks (docs/DataParallel.md).
struct TrainingPlan {
  /// Ranks that take samples, without a parameter server: the axis kDataAxis.
  int64_t ranks = 1;
  /// Further axes, over which shardings split weights and inputs.
  std::vector<MeshAxis> axes;
  ZeroStage zero = ZeroStage::None;
  BucketOptions buckets;
  /// Bytes of weights gathered ahead of use, and of gradients that wait for
  /// their reduce-scatter (ZeRO-2 and 3).
  int64_t prefetchLimit = defaultPrefetchLimit;
  /// The ranks are the workers of a parameter server, which is an additional
  /// rank. They exchange nothing, and each returns its term of the loss.
  bool hasServer = false;
  /// The most steps that a worker may be ahead of the slowest.
  int64_t staleness = 0;
  BatchStatistics statistics = BatchStatistics::Global;
  /// Batches whose gradients a step averages.
  int64_t accumulate = 1;
  /// Communicators that collectives take in turn, so that several are under way
  /// at once.
  int64_t groups = 1;
  StagePlan stages;

  /// Whether a step is cut into stages.
  bool isStaged() const { return stages.count > 1; }
  /// Whether ranks have parts of a batch, of states or of weights.
  bool isSplit() const { return ranks > 1 || hasServer || !axes.empty(); }
  /// All axes: kDataAxis, with kStageAxis before or after it if stages are on
  /// several ranks, and the others.
  std::vector<MeshAxis> mesh() const;
  /// All ranks, including a parameter server.
  int64_t countRanks() const;
  /// The table of the stages' actions on several ranks.
  Status makeTable(schedule::Table &table) const;
  /// Whether a rank of all has each stage; on a single one, all.
  std::vector<bool> stagesOf(int64_t rank) const;
  /// Whether the schedule has the gradients of inputs and of weights apart.
  bool splitsBackward() const;
  /// Updates of each stage in a step: several if the schedule is asynchronous.
  std::vector<int64_t> updatesOfStages() const;
  /// The most of any stage.
  int64_t countUpdates() const;
  /// The stages that then keep versions of their weights.
  std::vector<int64_t> versionedStages() const;
};

struct Plan {
  PlanOrigin origin;
  /// For a model: the mesh, empty for one rank, and how inputs, weights and
  /// outputs are split over it. Of a model in stages, the ranks of these:
  /// kStageAxis alone.
  std::vector<MeshAxis> mesh;
  std::vector<TensorSharding> shardings;
  /// For training: the mesh is that of its plan, and shardings are of weights
  /// and inputs.
  std::optional<TrainingPlan> training;
  /// For a model in stages.
  std::optional<ForwardPlan> forward;
  /// The all-reduce algorithm: one of runtime/transport/Algorithms.def, or
  /// "own", the engine's. Empty: the engine's, or a ring for types that not
  /// every engine can add.
  std::string algorithm;
  /// The most bytes that intermediate results may take on a rank; 0: no limit.
  /// Kernels run again where that takes less memory than keeping their results
  /// (docs/Rematerialization.md).
  uint64_t memory = 0;

  /// Whether the engine may carry out reductions itself.
  bool usesOwn() const { return algorithm.empty() || algorithm == "own"; }
  /// The last sharding whose pattern matches the tensor; null if none does.
  const TensorSharding *find(std::string_view name) const;

  /// Adds an axis. Fails if the name has characters other than letters, digits
  /// and _, or is taken, if the size is invalid, or for too many ranks.
  Status addAxis(std::string_view name, int64_t ranks);
  /// Adds the sharding of the tensors that match `pattern`, with a text for
  /// each dim: an axis of the mesh, several as "data+fsdp", or "-". Fails for
  /// axes that do not exist, are used twice or are not in the order of the
  /// mesh, and for a pattern that already has a sharding.
  Status addSharding(std::string_view pattern,
                     const std::vector<std::string_view> &dims);
  /// Makes the axes those of training, in the order of TrainingPlan::mesh.
  /// Fails without kDataAxis, or in another order.
  Status setTrainingMesh();
  /// Makes the mesh that of the stages of a model: of as many ranks as its axis
  /// kStageAxis has, or StagePlan::chooseRanks says without one. Fails for
  /// other axes.
  Status setForwardMesh();
  /// Checks the rest: an algorithm that is unknown or not possible here or with
  /// so many ranks, numbers out of range, and settings that have no effect with
  /// the others.
  Status check() const;

  /// The lines of the plan that a checkpoint of training depends on; empty if
  /// none.
  std::string checkpointText() const;
  /// As JSON, on several lines. Defaults are left out, so that equal plans have
  /// equal texts.
  std::string text() const;
  /// The BLAKE3 hash of the text, in hexadecimal digits.
  std::string hash() const;

  /// Reads and checks a text, for `mlc compile` or, with `trains`, `mlc train`.
  /// Errors name the key.
  static Status parse(std::string_view text, bool trains, Plan &plan);

private:
  Status checkTraining() const;
  Status checkStaged() const;
  Status checkShardings() const;
  Status checkForward() const;
};

/// The texts of a sharding, split at commas: "data+fsdp,-".
std::vector<std::string_view> splitDims(std::string_view text, char separator);

/// The last sharding whose pattern matches the tensor; null if none does.
const TensorSharding *findSharding(const std::vector<TensorSharding> &all,
                                   std::string_view name);

/// Whether `pattern` is `name`, where each * of it stands for any characters.
bool matchesName(std::string_view pattern, std::string_view name);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_PLAN_H
