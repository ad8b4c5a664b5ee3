//===- Interpreter.h - An interpreter of linalg functions -------*- C++ -*-===//
//
// Runs a function of linalg, tensor, arith, math, affine and scf on concrete
// tensors, operation by operation and point by point, as upstream specifies. It
// shares no code with the reader of such functions for proofs
// (verifier/read/FromLinalg.cpp), so that each exposes faults of the other
// (verifier/read/Misreading.h). Operators of the mlc dialect are evaluated by
// their definitions.
//
// Floats are intervals around real numbers, integers wrap, indices do not. All
// work that an input can request is counted before it is done.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_LINALG_INTERPRETER_H
#define MLC_VERIFIER_LINALG_INTERPRETER_H

#include "dialects/Evaluator/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verifier/linalg/Values.h"

namespace mlc::interpret {

struct RunOptions {
  /// Limit on points, operations and elements.
  uint64_t maxSteps = uint64_t(1) << 20;
  /// Values of the symbols and parameters that operators of the mlc dialect
  /// use.
  llvm::StringMap<int64_t> symbols;
  llvm::StringMap<double> parameters;
};

struct RunResult {
  /// Why there are no results.
  std::optional<Stop> stop;
  std::vector<Tensor> results;
  /// Whether any computed value was no number, used or not.
  bool sawNone = false;
  uint64_t steps = 0;
};

/// Runs the function on `arguments`, which are in the interval domain.
RunResult run(mlir::func::FuncOp function, llvm::ArrayRef<EvalTensor> arguments,
              const RunOptions &options = {});

} // namespace mlc::interpret

#endif // MLC_VERIFIER_LINALG_INTERPRETER_H
