//===- CompileTime.h - What is known when a model is compiled ---*- C++ -*-===//

#ifndef MLC_DIALECTS_INTERFACES_COMPILETIME_H
#define MLC_DIALECTS_INTERFACES_COMPILETIME_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of the model's function: the elements that it has when the
/// model is compiled, as an ElementsAttr. Such an argument is a *parameter*. It
/// is no input of the program, which holds its bytes; but they may be written
/// between runs, so that it is as little known at compile time as an input.
inline constexpr llvm::StringLiteral kParameterAttr = "mlc.parameter";

/// On a result of the model's function: the name of the parameter that it is
/// the new value of.
inline constexpr llvm::StringLiteral kUpdatesAttr = "mlc.updates";

/// Whether `value` never changes: a literal or computed from literals alone,
/// through at most a few operators. Its dims may be open only where it repeats
/// a literal (a broadcast).
bool isCompileTime(mlir::Value value);

/// Whether an operator writes out an infinity or a NaN: as an element of a
/// literal, or as the number that it repeats.
bool writesNoNumber(mlir::Operation *op);

} // namespace mlc

#endif // MLC_DIALECTS_INTERFACES_COMPILETIME_H
