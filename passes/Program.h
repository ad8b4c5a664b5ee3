//===- Program.h - exec.program as the runtime's data -----------*- C++ -*-===//

#ifndef MLC_PASSES_PROGRAM_H
#define MLC_PASSES_PROGRAM_H

#include "codegen/kernel/Backend.h"
#include "dialects/Exec/Exec.h"
#include "passes/CompiledModel.h"

namespace mlc {

/// Adds `program`, with its compiled `kernels`, to the entries of `model`,
/// along with the states and weights that it needs. Emits an error if the
/// runtime has no equivalent of an element type or a size.
mlir::LogicalResult translateProgram(exec::ProgramOp program,
                                     const CompiledKernels &kernels,
                                     CompiledModel &model);

/// The runtime's element type.
std::optional<runtime::DType> getDType(mlir::Type element);

} // namespace mlc

#endif // MLC_PASSES_PROGRAM_H
