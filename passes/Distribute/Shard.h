//===- Shard.h - A mesh, and shardings by name ------------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_SHARD_H
#define MLC_PASSES_DISTRIBUTE_SHARD_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "runtime/plan/Plan.h"

namespace mlc {

/// Gives `module`, a model as passes/Import makes it, the mesh of `plan`, and
/// the arguments and results of its function @main their shardings. Parameters
/// that the plan names become states, of which each rank has its part; outputs
/// that it does not name are replicated. An error if a tensor has fewer dims
/// than are split.
mlir::LogicalResult shardByName(mlir::ModuleOp module,
                                const runtime::Plan &plan);

/// An axis and a sharding as options of a pass: "tensor=2", "w=-:tensor".
std::string textOf(const runtime::MeshAxis &axis);
std::string textOf(const runtime::TensorSharding &sharding);
/// Adds axes and shardings in this form to `plan`; emits the error.
mlir::LogicalResult readAxes(mlir::ModuleOp module,
                             llvm::ArrayRef<std::string> texts,
                             runtime::Plan &plan);
mlir::LogicalResult readShardings(mlir::ModuleOp module,
                                  llvm::ArrayRef<std::string> texts,
                                  runtime::Plan &plan);

/// `mlc-shard`, which runs shardByName.
std::unique_ptr<mlir::Pass> createShardPass(const runtime::Plan &plan);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_SHARD_H
