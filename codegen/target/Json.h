//===- Json.h - JSON of unknown origin --------------------------*- C++ -*-===//

#ifndef MLC_CODEGEN_TARGET_JSON_H
#define MLC_CODEGEN_TARGET_JSON_H

#include "llvm/Support/JSON.h"

namespace mlc {

/// As llvm::json::parse, which ends in the stack's overflow where brackets are
/// nested deeply: more than runtime::maxNesting are an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_JSON_H
