//===- CompileTime.h - What is known when a model is compiled ---*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_COMPILETIME_H
#define MLC_DIALECTS_INTERFACES_COMPILETIME_H

#include "mlir/IR/Value.h"

namespace mlc {

/// Whether `value` is a literal or computed from literals alone, through at
/// most a few operators. Its dims may be open only where it repeats a literal
/// (a broadcast).
bool isCompileTime(mlir::Value value);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_COMPILETIME_H
