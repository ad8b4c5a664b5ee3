//===- EvaluatorOptions.h - What an evaluation may be told ------*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_EVALUATOROPTIONS_H
#define MLC_DIALECTS_INTERFACES_EVALUATOROPTIONS_H

#include "dialects/Interfaces/EvaluatorTensor.h"
#include "llvm/ADT/StringMap.h"

namespace mlc {

struct EvalOptions {
  EvalDomain domain = EvalDomain::Native;
  /// Values of symbols in dims and attributes. Symbols that stand alone as a
  /// dim of an input are bound by that input's size.
  llvm::StringMap<int64_t> symbols;
  /// Values of symbolic RealAttrs.
  llvm::StringMap<double> parameters;
  /// Bytes of all stages of one operator, and scalar steps of one operator.
  int64_t maxBytes = int64_t(8) << 30;
  int64_t maxSteps = int64_t(1) << 42;
};

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_EVALUATOROPTIONS_H
