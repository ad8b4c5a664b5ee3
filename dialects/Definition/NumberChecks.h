//===- NumberChecks.h - Numbers that a run depends on -----------*- C++ -*-===//

#ifndef MLC_DIALECTS_DEFINITION_NUMBERCHECKS_H
#define MLC_DIALECTS_DEFINITION_NUMBERCHECKS_H

#include "llvm/ADT/StringRef.h"

namespace mlc {

/// On a result of the model's function, which then is not an output: a number
/// that must be between these bounds (expressions of dims, either may be
/// missing). Otherwise the run fails with the message of `mlc.check`.
inline constexpr llvm::StringLiteral kCheckAttr = "mlc.check";
inline constexpr llvm::StringLiteral kLowAttr = "mlc.low";
inline constexpr llvm::StringLiteral kHighAttr = "mlc.high";

/// On an `exec.bind`: the symbol is not a size and may be negative.
inline constexpr llvm::StringLiteral kAnyNumberAttr = "exec.any";

} // namespace mlc

#endif // MLC_DIALECTS_DEFINITION_NUMBERCHECKS_H
