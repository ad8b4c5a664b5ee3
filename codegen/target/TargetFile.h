//===- TargetFile.h - Target descriptions as JSON ---------------*- C++ -*-===//
//
//   {
//     "name": "gpu:v100", "description": "...",
//     "cost": {"units": {"value": 80, "source": "..."}, ...},
//     "code": {"triple": "...", "vector_bits": 512, ...}   (CPUs only)
//   }
//
// Every number of the cost model (CostParameters.h) has its source. All keys
// are required and no others are allowed, so that a misspelt key is not taken
// as a default.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_TARGET_TARGETFILE_H
#define MLC_CODEGEN_TARGET_TARGETFILE_H

#include "codegen/target/Target.h"

namespace mlc {

/// The target files that ship with mlc, embedded at build time.
struct EmbeddedTargetFile {
  const char *name; // "gpu-v100.json"
  const char *text;
};
llvm::ArrayRef<EmbeddedTargetFile> embeddedTargetFiles();

/// Reads a target file's text. Errors name the key and what it should be.
llvm::Expected<Target> readTarget(llvm::StringRef text);

/// The file of a target, ending in a newline; readTarget gives it back.
std::string writeTarget(const Target &target);

} // namespace mlc

#endif // MLC_CODEGEN_TARGET_TARGETFILE_H
