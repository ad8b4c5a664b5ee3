//===- Json.h - JSON of unknown origin --------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_TARGET_JSON_H
#define MLC_CODEGEN_TARGET_JSON_H

#include "llvm/Support/JSON.h"

namespace mlc {

/// As llvm::json::parse, but fails beyond runtime::maxNesting levels of
/// brackets, where deep nesting would overflow the stack.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_JSON_H
