//===- ProgramSteps.h - Steps of an exec.program as data --------*- C++ -*-===//

#ifndef MLC_PASSES_PROGRAMSTEPS_H
#define MLC_PASSES_PROGRAMSTEPS_H

#include "codegen/kernel/Backend.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Symbolic/IntExpr.h"
#include "runtime/Program.h"

namespace mlc {

/// The step of the kind that the op is called after. Each field is the op's
/// attribute of the same name; words and texts that it lacks are the first one
/// and empty. Emits an error for a kind without row (runtime/Step.h), and for
/// attributes that are no value of their field. The step's tensors are the
/// caller's to add.
mlir::FailureOr<runtime::Step>
readStep(exec::StepOpInterface op, const std::vector<runtime::MeshAxis> &mesh,
         llvm::function_ref<runtime::ExprId(IntExpr)> addSize);

/// A kernel's map as data; `addSize` takes sizes in the kernel's symbols.
runtime::TensorMap
makeMap(const KernelMap &map,
        llvm::function_ref<runtime::ExprId(IntExpr)> addSize);

} // namespace mlc

#endif // MLC_PASSES_PROGRAMSTEPS_H
