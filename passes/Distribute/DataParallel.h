//===- DataParallel.h - Training with the batch split over ranks *- C++ -*-===//
//
// What DistributedDataParallel (Li et al. 2020) and ZeRO (Rajbhandari et al.
// 2020) are, said as shardings: the partitioner does the rest.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H
#define MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "runtime/plan/Plan.h"

namespace mlc {

struct DataParallelOptions {
  int64_t ranks = 1;
  runtime::ZeroStage zero = runtime::ZeroStage::None;
  /// What is returned and no state, the loss, is each rank's term of a sum that
  /// a server makes.
  bool returnsTerms = false;
};

/// The dim along which a state is split over `ranks`: that whose largest part
/// is nearest to an even one, the first of these. Nothing where every dim has
/// fewer elements than there are ranks.
std::optional<unsigned> findSplitDim(mlir::RankedTensorType type,
                                     int64_t ranks);

/// Gives `module`, whose entries addTrainingEntries made, a mesh of one axis,
/// and their arguments and results shardings. Inputs with dims are split along
/// the first, which is the sample. States are whole; of the optimizer's, of the
/// sums of gradients and of the weights those are split that `zero` says;
/// running statistics stay whole. Sums of gradients that are
/// not split are partial: each rank adds up its own, and "apply" reduces them
/// (DistributedDataParallel's no_sync). Errors: inputs of different numbers of
/// samples, or of fewer than there are ranks; running statistics where there is
/// a server, which sees none of them.
mlir::LogicalResult distributeTraining(mlir::ModuleOp module,
                                       const DataParallelOptions &options);

/// `mlc-distribute-training`, which does that.
std::unique_ptr<mlir::Pass>
createDistributeTrainingPass(const runtime::TrainingPlan &plan);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_DATAPARALLEL_H
