//===- Emit.h - Stages of a definition as operators -------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_EMIT_H
#define MLC_PASSES_DIFFERENTIATE_EMIT_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// Emits operators for the stages of `definition` on `inputs`, one per stage:
/// named ones if Named.h knows one, else `mlc.compute`. Returns the values of
/// the definition's results. Stages have one piece, and each read is evidently
/// in range or has a fallback.
mlir::FailureOr<llvm::SmallVector<mlir::Value>>
emitStages(mlir::OpBuilder &builder, mlir::Location loc,
           const Definition &definition, mlir::ValueRange inputs);

/// Emits `mlc.compute` with `definition`. Its stages have one piece, and the
/// last one is the result. Each read is evidently in range or has a fallback.
mlir::FailureOr<mlir::Value> emitCompute(mlir::OpBuilder &builder,
                                         mlir::Location loc,
                                         Definition definition,
                                         mlir::ValueRange inputs);

/// Emits one stage by `mlc.compute` or `mlc.reshape` only; `valueOf` gives the
/// tensors that it reads.
mlir::FailureOr<mlir::Value>
emitStage(mlir::OpBuilder &builder, mlir::Location loc,
          const Definition &definition, const Stage &stage,
          llvm::function_ref<mlir::Value(TensorId)> valueOf);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_EMIT_H
