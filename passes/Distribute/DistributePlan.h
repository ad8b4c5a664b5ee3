//===- DistributePlan.h - How programs are split over ranks -----*- C++ -*-===//
//
// What the phase Distribute carries out, for whoever composes a pipeline:
// addDistributePasses (passes/Pipeline.h) takes it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_DISTRIBUTEPLAN_H
#define MLC_PASSES_DISTRIBUTE_DISTRIBUTEPLAN_H

#include "dialects/Dist/Dist.h"
#include <optional>
#include <string>
#include <vector>

namespace mlc {

/// What is split over the ranks beside the batch; each stage with those before.
enum class ZeroStage { None, OptimizerStates, Gradients, Weights };

/// By which rule reductions become one.
enum class BucketRule {
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
};

/// The one axis of the mesh over whose ranks a batch is split.
inline constexpr llvm::StringLiteral kDataAxis = "data";

struct MeshAxis {
  std::string name;
  int64_t ranks;
};

/// Of the tensors that a pattern names (passes/Base/NamePattern.h).
struct TensorSharding {
  std::string pattern;
  /// The axes that split each dim, in the order of the mesh; further dims are
  /// whole.
  std::vector<std::vector<std::string>> axes;
};

/// Training with the batch split over ranks (docs/DataParallel.md).
struct DataParallelPlan {
  int64_t ranks = 1;
  ZeroStage zero = ZeroStage::None;
  BucketOptions buckets;
  /// Bytes of weights that are gathered before anybody reads them, and of
  /// gradients that wait to be scattered (ZeRO-2 and 3).
  int64_t gatherWindow = dist::kGatherWindow;
  /// The ranks are the workers of a server: they exchange nothing, and each
  /// returns its term of the loss.
  bool hasServer = false;
};

struct DistributePlan {
  /// Of a model: the mesh, none where there is one rank, and how inputs,
  /// weights and outputs are split over it.
  std::vector<MeshAxis> mesh;
  std::vector<TensorSharding> shardings;
  /// Of entries of training, instead.
  std::optional<DataParallelPlan> training;
  /// How ranks add: of runtime/transport/Algorithms.def; empty: the engine's
  /// own.
  std::string algorithm;

  /// What is said of a tensor: of several the last; null where nothing is.
  const TensorSharding *find(llvm::StringRef name) const;

  /// The sharding of the tensors that `pattern` names, of a text for each dim:
  /// an axis of the mesh, several as "data+fsdp", or "-". Nothing where that is
  /// none, and `problem` says why.
  std::optional<TensorSharding>
  readSharding(llvm::StringRef pattern, llvm::ArrayRef<llvm::StringRef> dims,
               std::string &problem) const;
};

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_DISTRIBUTEPLAN_H
