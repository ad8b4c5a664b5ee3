//===- Named.h - Operators that a stage is ----------------------*- C++ -*-===//

#ifndef MLC_PASSES_DIFFERENTIATE_NAMED_H
#define MLC_PASSES_DIFFERENTIATE_NAMED_H

#include "dialects/Interfaces/Definition.h"
#include "mlir/IR/Builders.h"

namespace mlc {

/// The value of a stage by operators that layouts, rules and kernels know:
/// what it reads alone, its transpose, or a matrix product of two (with
/// reshapes, where several loops are a matrix's rows or columns). Null where it
/// is none of these.
mlir::FailureOr<mlir::Value>
emitNamed(mlir::OpBuilder &builder, mlir::Location loc,
          const Definition &definition, const Stage &stage,
          llvm::function_ref<mlir::Value(TensorId)> valueOf);

} // namespace mlc

#endif // MLC_PASSES_DIFFERENTIATE_NAMED_H
