//===- Mesh.h - The mesh and the shardings of a module ----------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_MESH_H
#define MLC_PASSES_DISTRIBUTE_MESH_H

#include "dialects/Definition/Definition.h"
#include "dialects/Dist/Dist.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlc {

/// The axes of a module's `dist.mesh`; empty if it has none. Emits the error.
mlir::FailureOr<llvm::SmallVector<dist::AxisAttr>>
readMesh(mlir::ModuleOp module);

/// The place of an axis in the mesh; nothing if it is not there.
std::optional<unsigned> findAxis(llvm::ArrayRef<dist::AxisAttr> mesh,
                                 dist::AxisAttr axis);

/// How ranks' values are combined; none of the kinds is a mean.
ReduceKind reduceKindOf(Reduction reduction);

/// A `dist.sharding` with axes by their places in the mesh.
struct RankSharding {
  /// For each dim, the axes that split it, in the mesh's order: each splits the
  /// parts that the one before it makes.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>> dims;
  llvm::SmallVector<std::pair<unsigned, ReduceKind>> partial;

  bool isSplit() const {
    return llvm::any_of(dims, [](const auto &axes) { return !axes.empty(); });
  }
};

/// Checks that an argument or a result of `function`, called `what`, can be
/// split: it is a tensor with named dims. Emits the error.
mlir::LogicalResult checkTensor(mlir::func::FuncOp function, mlir::Type type,
                                const llvm::Twine &what);

/// Reads the sharding of an argument or a result of `rank` dims; null:
/// replicated. On failure `problem` says what is wrong with it.
mlir::FailureOr<RankSharding> readSharding(mlir::Attribute attribute,
                                           unsigned rank,
                                           llvm::ArrayRef<dist::AxisAttr> mesh,
                                           std::string &problem);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_MESH_H
