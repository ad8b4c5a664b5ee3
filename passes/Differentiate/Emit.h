//===- Emit.h - Stages of a definition as operators -------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_EMIT_H
#define MLC_PASSES_DIFFERENTIATE_EMIT_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// The dims and the element type of a tensor.
TensorShape shapeOf(mlir::Value value);

/// Operators that compute the stages of `definition`, whose inputs are
/// `inputs`, one for each stage: named ones where Named.h knows one, else
/// `mlc.compute`. Returns the values of the definition's results. Stages have
/// one piece, and reads are evidently in range or say what stands for them.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
emitStages(mlir::OpBuilder &builder, mlir::Location loc,
           const Definition &definition, mlir::ValueRange inputs);

/// `mlc.compute` with `definition`, whose stages have one piece and whose last
/// one is the result. Reads are evidently in range or say what stands for them.
mlir::FailureOr<mlir::Value> emitCompute(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         Definition definition,
                                         mlir::ValueRange inputs);

/// One stage alone, by `mlc.compute` or `mlc.reshape` and no operator else;
/// `valueOf` gives what it reads.
mlir::FailureOr<mlir::Value>
emitStage(mlir::OpBuilder &builder, mlir::Location loc,
          const Definition &definition, const Stage &stage,
          llvm::function_ref<mlir::Value(TensorId)> valueOf);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_EMIT_H
