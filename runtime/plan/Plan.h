//===- Plan.h - How a program is split over ranks ---------------*- C++ -*-===//
//
// The plan that flags, a file and Python say alike: the phase Distribute
// carries it out (passes/Distribute), all ranks of a run compare theirs. Its
// text is JSON (docs/Plan.md).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_PLAN_PLAN_H
#define MLC_RUNTIME_PLAN_PLAN_H

#include "runtime/Status.h"
#include "runtime/Step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::runtime {

/// What is split over the ranks beside the batch; each stage with those before
/// (Rajbhandari et al. 2020).
enum class ZeroStage : uint8_t { None, OptimizerStates, Gradients, Weights };

/// By which rule reductions become one.
enum class BucketRule : uint8_t {
  /// A bucket is full when it has as many bytes as its limit, or more.
  DDP,
  /// A bucket has as many bytes as its limit at most, unless it is of one
  /// tensor; what fits is looked for among as many bytes behind.
  Horovod,
};

struct BucketOptions {
  BucketRule rule = BucketRule::DDP;
  /// What the first bucket of a kind takes, and the others; Horovod knows no
  /// first one.
  int64_t firstBytes = int64_t(1) << 20;
  int64_t bytes = int64_t(25) << 20;

  /// What the rule takes where nobody says: 1 and 25 MiB, or 64 MiB.
  static BucketOptions of(BucketRule rule);
  bool operator==(const BucketOptions &other) const {
    return rule == other.rule && firstBytes == other.firstBytes &&
           bytes == other.bytes;
  }
};

/// Whose samples batch normalization takes mean and variance of.
enum class BatchStatistics : uint8_t { Global, Local };

/// Of the tensors that a pattern names: a name, or NAME* for all that begin so.
struct TensorSharding {
  std::string pattern;
  /// The axes that split each dim, in the order of the mesh; further dims are
  /// replicated.
  std::vector<std::vector<std::string>> axes;

  /// The axes as flags and files have them: "data+fsdp,-".
  std::string text() const;
};

/// Bytes of weights that are gathered before anybody reads them.
constexpr int64_t defaultGatherWindow = int64_t(64) << 20;

/// Training with the batch split over ranks (docs/DataParallel.md).
struct TrainingPlan {
  /// Those that take samples: without a parameter server.
  int64_t ranks = 1;
  ZeroStage zero = ZeroStage::None;
  BucketOptions buckets;
  /// Of weights that are gathered ahead, and of gradients that wait to be
  /// scattered (ZeRO-2 and 3), in bytes.
  int64_t gatherWindow = defaultGatherWindow;
  /// The ranks are the workers of a parameter server, which is one more: they
  /// exchange nothing, and each returns its term of the loss.
  bool hasServer = false;
  /// Steps that a worker may be ahead of the slowest.
  int64_t staleness = 0;
  BatchStatistics statistics = BatchStatistics::Global;

  /// All ranks, a parameter server among them.
  int64_t countRanks() const { return ranks + hasServer; }
};

struct Plan {
  /// Of a model: the mesh, none where there is one rank, and how inputs,
  /// weights and outputs are split over it.
  std::vector<MeshAxis> mesh;
  std::vector<TensorSharding> shardings;
  /// Of entries of training, instead: the mesh is the one axis kDataAxis.
  std::optional<TrainingPlan> training;
  /// How ranks add: of runtime/transport/Algorithms.def, or "own", the engine's
  /// way. Empty: that too, and a ring for what not every engine can add.
  std::string algorithm;

  /// Whether some of it is left to an engine.
  bool usesOwn() const { return algorithm.empty() || algorithm == "own"; }
  /// What is said of a tensor: of several the last; null where nothing is.
  const TensorSharding *find(std::string_view name) const;

  /// Adds an axis. Errors: a name of other characters than letters, digits and
  /// _, or that another axis has; sizes that are none, or too many ranks.
  Status addAxis(std::string_view name, int64_t ranks);
  /// Adds the sharding of the tensors that `pattern` names, of a text for each
  /// dim: an axis of the mesh, several as "data+fsdp", or "-". Errors: axes
  /// that there are not, that are used twice or not in the order of the mesh; a
  /// pattern that has a sharding already.
  Status addSharding(std::string_view pattern,
                     const std::vector<std::string_view> &dims);
  /// The rest: an algorithm that there is not, or not for so many ranks, or
  /// not here; numbers out of bounds; what says nothing beside the others.
  Status check() const;

  /// What a checkpoint of training depends on, a line each; empty where it does
  /// not.
  std::string checkpointText() const;
  /// As JSON, on several lines: what is as it is by default is left out, so
  /// that equal plans have equal texts.
  std::string text() const;
  /// The BLAKE3 hash of the text, in hexadecimal digits.
  std::string hash() const;

  /// Reads and checks a text, for `mlc compile` or, with `trains`, `mlc train`.
  /// Errors name the key.
  static Status parse(std::string_view text, bool trains, Plan &plan);
};

/// The axis over whose ranks a batch is split in training.
inline constexpr const char *kDataAxis = "data";

/// The texts of a sharding, split at commas: "data+fsdp,-".
std::vector<std::string_view> splitDims(std::string_view text, char separator);

/// Whether `pattern` is `name`, or NAME* and the beginning of it.
bool matchesName(std::string_view pattern, std::string_view name);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_PLAN_PLAN_H
