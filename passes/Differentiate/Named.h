//===- Named.h - Stages as named operators ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_NAMED_H
#define MLC_PASSES_DIFFERENTIATE_NAMED_H

#include "dialects/Definition/Definition.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// The value of a stage by operators that layouts, rules and kernels know: the
/// one tensor that it reads, its transpose, or a matrix product of two (with
/// reshapes if several loops form a matrix's rows or columns). Null if the
/// stage is not one of these.
mlir::FailureOr<mlir::Value>
emitNamed(mlir::OpBuilder &builder, mlir::Location loc,
          const Definition &definition, const Stage &stage,
          llvm::function_ref<mlir::Value(TensorId)> valueOf);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_NAMED_H
