//===- Backends.h - The back ends of this build -----------------*- C++ -*-===//

#ifndef MLC_CODEGEN_BACKENDS_H
#define MLC_CODEGEN_BACKENDS_H

#include "codegen/kernel/Backend.h"

namespace mlc {

/// Every back end, in the order in which they are asked. Backends.cpp is the
/// only file outside of a back end that includes its headers.
llvm::ArrayRef<const Backend *> getBackends();

/// The first back end that makes code for `target`; null if none does (a target
/// for the cost model only).
const Backend *findBackend(const Target &target);

/// A target and the back end that makes code for it.
struct CodeTarget {
  Target target;
  const Backend *backend = nullptr;
};

/// The target called `name`, or described by the file of that name, and its
/// back end. Fails as parseTarget does, or if no back end makes code for the
/// target.
llvm::Expected<CodeTarget> parseCodeTarget(llvm::StringRef name);

/// The dialects and interfaces that the kernels of every back end need.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace mlc

#endif // MLC_CODEGEN_BACKENDS_H
