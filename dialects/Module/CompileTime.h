//===- CompileTime.h - Values known at compile time -------------*- C++ -*-===//

#ifndef MLC_DIALECTS_MODULE_COMPILETIME_H
#define MLC_DIALECTS_MODULE_COMPILETIME_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On an argument of the model's function: its elements at compile time, as an
/// ElementsAttr. Such an argument is a *parameter*. It is not an input of the
/// program, which holds its bytes. They may be written between runs, so the
/// compiler must not rely on them.
inline constexpr llvm::StringLiteral kParameterAttr = "mlc.parameter";

/// On a result of the model's function: the name of the parameter whose new
/// value it is.
inline constexpr llvm::StringLiteral kUpdatesAttr = "mlc.updates";

/// Whether `value` never changes: a literal, or computed from literals alone
/// through at most a few operators. Only a broadcast of a literal may have open
/// dims.
bool isCompileTime(mlir::Value value);

/// Whether an operator holds an infinity or a NaN: as an element of a literal,
/// or as the number that it repeats.
bool writesNoNumber(mlir::Operation *op);

} // namespace mlc

#endif // MLC_DIALECTS_MODULE_COMPILETIME_H
