//===- Evaluation.h - Values by the reference evaluator ---------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_EVALUATION_H
#define MLC_TOOLS_MLC_EVALUATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tools/mlc/Feed.h"

namespace mlc::cli {

/// The results of `function` on `inputs`, with its parameters, by the reference
/// evaluator, always in double precision: floats become float64. `file` names
/// the model in errors.
llvm::Expected<std::vector<HostTensor>>
evaluateInDouble(llvm::StringRef file, mlir::func::FuncOp function,
                 llvm::ArrayRef<HostTensor> inputs);

/// A constant's elements.
llvm::Expected<HostTensor> toHost(mlir::ElementsAttr value);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_EVALUATION_H
