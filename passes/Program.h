//===- Program.h - exec.program as the runtime's data -----------*- C++ -*-===//

#ifndef MLC_PASSES_PROGRAM_H
#define MLC_PASSES_PROGRAM_H

#include "codegen/kernel/Backend.h"
#include "dialects/Exec/Exec.h"
#include "passes/CompiledModel.h"

namespace mlc {

/// Adds `program`, whose kernels have become `kernels`, to the entries of
/// `model`, and what it needs of states and weights. Emits an error where an
/// element type or a size has no counterpart in the runtime.
mlir::LogicalResult translateProgram(exec::ProgramOp program,
                                     const CompiledKernels &kernels,
                                     CompiledModel &model);

/// The runtime's element type.
std::optional<runtime::DType> getDType(mlir::Type element);

} // namespace mlc

#endif // MLC_PASSES_PROGRAM_H
