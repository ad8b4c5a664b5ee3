//===- DataParallel.h - Training with the batch split over ranks *- C++ -*-===//
//
// DistributedDataParallel (Li et al. 2020) and ZeRO (Rajbhandari et al. 2020)
// as shardings: the partitioner does the rest.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H
#define MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H

#include "dialects/Dist/Dist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "runtime/plan/Plan.h"

namespace mlc {

struct DataParallelOptions {
  int64_t ranks = 1;
  /// The axes beside kDataAxis, how many of them come before it, and which
  /// weights and inputs they split.
  std::vector<runtime::MeshAxis> axes;
  size_t outerAxes = 0;
  std::vector<runtime::TensorSharding> shardings;
  /// Axes with the stages whose samples they split too (kBatchStagesAttr).
  using BatchStages = std::vector<std::pair<std::string, std::vector<int64_t>>>;
  BatchStages batchStages;
  runtime::ZeroStage zero = runtime::ZeroStage::None;
  /// Results that are no states (the loss) are each rank's term of a sum that a
  /// server computes.
  bool returnsTerms = false;
};

/// The dim along which a state is split over `ranks`: the one whose largest
/// part is nearest to an even share, the first on a tie, and none of `taken`.
/// Nothing if every dim has fewer elements than there are ranks.
std::optional<unsigned>
findSplitDim(mlir::RankedTensorType type, int64_t ranks,
             const dist::ShardingAttr::Axes &taken = {});

/// Gives `module`, whose entries addTrainingEntries made, a mesh, and their
/// arguments and results shardings. Inputs with dims are split along the first,
/// the sample dim, over kDataAxis. States are replicated there, except that
/// `zero` says which of the optimizer's states, sums of gradients and weights
/// are split; running statistics stay replicated. Sums of gradients that are
/// not split are partial: each rank adds up its own, and "apply" reduces them
/// (DistributedDataParallel's no_sync). Along other axes weights, what belongs
/// to them, and inputs are split as `shardings` says, by names of weights and
/// inputs. Errors: inputs with different numbers of samples, or with fewer than
/// there are ranks; running statistics with a server, which sees none of them;
/// a sharding that fits nothing, or has more dims than what it fits.
mlir::LogicalResult distributeTraining(mlir::ModuleOp module,
                                       const DataParallelOptions &options);

/// `mlc-distribute-training`, which runs distributeTraining, for a plan of
/// training.
std::unique_ptr<mlir::Pass>
createDistributeTrainingPass(const runtime::Plan &plan);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H
