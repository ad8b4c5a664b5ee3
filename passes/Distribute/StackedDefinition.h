//===- StackedDefinition.h - Definitions over all ranks ---------*- C++ -*-===//
//
// A tensor that differs between ranks is *stacked*: the ranks' coordinates on
// the axes along which it varies are its first dims, in the order of the mesh.
// A tensor that is the same on all ranks of an axis is not stacked along it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PASSES_DISTRIBUTE_STACKEDDEFINITION_H
#define MLC_PASSES_DISTRIBUTE_STACKEDDEFINITION_H

#include "dialects/Definition/Definition.h"
#include "dialects/Dist/Dist.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlc {

/// The axes along which a tensor is stacked, by their places in the mesh.
using StackedAxes = llvm::SmallBitVector;

struct StackedDefinition {
  Definition definition;
  /// For each stage.
  std::vector<StackedAxes> axes;
};

/// `definition`, of one rank, over stacked tensors: every stage gets a leading
/// loop for each axis along which one of the tensors that it reads is stacked,
/// and for each axis whose `rank.AXIS` is among its indices. `inputs` are the
/// axes along which inputs are stacked.
///
/// If `exchanged` is an axis, the definition is that of a collective over it
/// (StackedOpInterface), and all inputs are stacked along it. A result that is
/// the same for all ranks is not.
///
/// Reads that are not evidently in range get a guard with the value 0. Fails,
/// with the reason in `problem`, if a size depends on the rank.
mlir::FailureOr<StackedDefinition>
stackDefinition(const Definition &definition,
                llvm::ArrayRef<dist::AxisAttr> mesh,
                llvm::ArrayRef<StackedAxes> inputs,
                std::optional<unsigned> exchanged, std::string &problem);

/// The first axis on whose coordinate a rank's integer depends.
std::optional<unsigned> findRank(IntExpr expr,
                                 llvm::ArrayRef<dist::AxisAttr> mesh);

/// Whether anything in a definition depends on a rank's coordinates.
bool dependsOnRank(const Definition &definition,
                   llvm::ArrayRef<dist::AxisAttr> mesh);

/// Emits a stage of several pieces: one operator for each, and one that
/// assembles them. Emits an error if they are cut along two dims.
mlir::FailureOr<mlir::Value>
emitPieces(mlir::OpBuilder &builder, mlir::Location loc,
           const Definition &definition, const Stage &stage,
           llvm::function_ref<mlir::Value(TensorId)> valueOf);

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_STACKEDDEFINITION_H
