//===- Npy.h - numpy's array files for the evaluator ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EVAL_NPY_H
#define MLC_TOOLS_MLC_EVAL_NPY_H

#include "dialects/Evaluator/EvaluatorTensor.h"

namespace mlc {

/// Reads a .npy file as elements of `elementType`. Errors name the file.
llvm::Expected<EvalTensor> readNpy(llvm::StringRef path,
                                   mlir::Type elementType);

/// Writes a tensor of the Native or Float64 domain; an Interval one gets a
/// last dim of 2, low and high. Other domains fail.
llvm::Error writeNpy(llvm::StringRef path, const EvalTensor &tensor);

} // namespace mlc

#endif // MLC_TOOLS_MLC_EVAL_NPY_H
