//===- Interpreter.h - Functions of linalg, run -----------------*- C++ -*-===//
//
// Runs a function of linalg, tensor, arith, math, affine and scf on concrete
// tensors, operation by operation and point by point, as upstream describes
// them. It shares no code with what reads such functions for proofs
// (verifier/read/FromLinalg.cpp), so that a fault of one is seen by the other
// (verifier/read/Misreading.h). Operators of the mlc dialect are evaluated by
// their definitions.
//
// Floats are intervals around real numbers, integers wrap, indices do not.
// Everything that a text can ask for is counted before it is done.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_VERIFIER_LINALG_INTERPRETER_H
#define MLC_VERIFIER_LINALG_INTERPRETER_H

#include "dialects/Interfaces/Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verifier/linalg/Values.h"

namespace mlc::interpret {

struct RunOptions {
  /// Points, operations and elements.
  uint64_t maxSteps = uint64_t(1) << 20;
  /// What operators of the mlc dialect may mention.
  llvm::StringMap<int64_t> symbols;
  llvm::StringMap<double> parameters;
};

struct RunResult {
  /// Why there are no results.
  std::optional<Stop> stop;
  std::vector<Tensor> results;
  /// Whether some number was computed that is none, used or not.
  bool sawNone = false;
  uint64_t steps = 0;
};

/// The function on `arguments`, which are in the interval domain.
RunResult run(mlir::func::FuncOp function, llvm::ArrayRef<EvalTensor> arguments,
              const RunOptions &options = {});

} // namespace mlc::interpret

#endif // MLC_VERIFIER_LINALG_INTERPRETER_H
