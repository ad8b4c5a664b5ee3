//===- Partition.h - One program for the ranks of a mesh --------*- C++ -*-===//
//
// The partitioner of docs/Partitioning.md: from shardings of what functions are
// given and give, to what each rank carries out. Propagation of shardings and
// partial values follow GSPMD (Xu et al. 2021), split states ZeRO (Rajbhandari
// et al. 2020).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTITION_H
#define MLC_PASSES_DISTRIBUTE_PARTITION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Distribute/PartitionOptions.h"

namespace mlc {

/// Makes of each function of `module`, which has `dist.mesh`, what a rank
/// carries out: types of arguments and results are those of the rank's parts,
/// and have dist::kWholeAttr where these are parts; elements in attributes
/// (`mlc.initial`, `mlc.parameter`) stay whole. An argument without
/// `dist.sharding` is whole everywhere, a result without is what comes out, but
/// not partial, and gets the sharding that it has; a state has what is said of
/// it anywhere, else is whole. Fails, with an error, where
/// a sharding does not fit its tensor or the mesh, or where a rank's inputs
/// would have dims of which the runtime cannot tell the symbols. A module
/// without `dist.mesh` is an error.
mlir::LogicalResult partition(mlir::ModuleOp module,
                              const PartitionOptions &options);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_PARTITION_H
