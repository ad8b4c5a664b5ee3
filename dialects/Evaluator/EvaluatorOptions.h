//===- EvaluatorOptions.h - What an evaluation may be told ------*- C++ -*-===//

#ifndef MLC_DIALECTS_EVALUATOR_EVALUATOROPTIONS_H
#define MLC_DIALECTS_EVALUATOR_EVALUATOROPTIONS_H

#include "dialects/Evaluator/EvaluatorTensor.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

struct EvalOptions {
  EvalDomain domain = EvalDomain::Native;
  /// Values of symbols in dims and attributes. The size of an input binds the
  /// symbols that are dims of it by themselves.
  llvm::StringMap<int64_t> symbols;
  /// Values of symbolic RealAttrs.
  llvm::StringMap<double> parameters;
  /// Limits for one operator: bytes of all stages, and scalar steps.
  int64_t maxBytes = int64_t(8) << 30;
  int64_t maxSteps = int64_t(1) << 42;
};

} // namespace mlc

#endif // MLC_DIALECTS_EVALUATOR_EVALUATOROPTIONS_H
