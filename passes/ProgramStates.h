//===- ProgramStates.h - States in the runtime's data -----------*- C++ -*-===//

#ifndef MLC_PASSES_PROGRAMSTATES_H
#define MLC_PASSES_PROGRAMSTATES_H

#include "dialects/Exec/Exec.h"
#include "passes/CompiledModel.h"

namespace mlc {

/// The index of the state of `op` in the artifact. Adds the state if no other
/// program has it; `bytes` are its first value. Emits an error if another
/// program has it with a different definition.
mlir::FailureOr<uint32_t> addState(exec::StateOp op, runtime::DType type,
                                   llvm::ArrayRef<char> bytes,
                                   CompiledModel &model);

} // namespace mlc

#endif // MLC_PASSES_PROGRAMSTATES_H
