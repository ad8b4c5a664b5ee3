//===- Partition.h - One program for the ranks of a mesh --------*- C++ -*-===//
//
// The partitioner of docs/Partitioning.md: from the shardings of functions'
// arguments and results to the program of each rank. Propagation of shardings
// and partial values follow GSPMD (Xu et al. 2021), split states ZeRO
// (Rajbhandari et al. 2020).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTITION_H
#define MLC_PASSES_DISTRIBUTE_PARTITION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Distribute/PartitionOptions.h"

namespace mlc {

/// Turns each function of `module`, which has `dist.mesh`, into a rank's
/// program. Arguments and results get the types of the rank's parts, and
/// dist::kWholeAttr if they are parts; elements in attributes (`mlc.initial`,
/// `mlc.parameter`) stay whole. An argument without `dist.sharding` is
/// replicated. A result without one is left as it comes out, but reduced if
/// partial, and gets that sharding. A state gets the sharding of any of its
/// uses, else is replicated. Fails, with an error, if a sharding does not fit
/// its tensor or the mesh, or if the runtime could not tell the symbols in the
/// dims of a rank's inputs. A module without `dist.mesh` is an error.
mlir::LogicalResult partition(mlir::ModuleOp module,
                              const PartitionOptions &options);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_PARTITION_H
