//===- Nvrtc.h - CUDA C++ to machine code -----------------------*- C++ -*-===//
//
// NVRTC, the compiler of CUDA C++ as a library: loaded when the first kernel is
// compiled, so that neither building mlc nor compiling for CPUs needs it.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_NVRTC_H
#define MLC_CODEGEN_CUDA_NVRTC_H

#include "codegen/cuda/CompiledSource.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlc::cuda {

/// ptxas's numbers for a kernel, per thread: registers, bytes of stack, and
/// bytes of spill stores and loads.
struct Resources {
  int64_t registers = 0, stack = 0, spillStores = 0, spillLoads = 0;
};

/// Reads the log that `--ptxas-options=-v` gives for one kernel.
Resources readResources(llvm::StringRef log);

/// Compiles a translation unit for `arch` ("sm_80"). May run on several
/// threads. Errors: NVRTC is missing (with the remedy), it does not know the
/// architecture, or it rejects the source (with its log).
llvm::Expected<CompiledSource> compileSource(llvm::StringRef source,
                                             llvm::StringRef arch);

/// The version of NVRTC, "13.0"; fails if there is none.
llvm::Expected<std::string> nvrtcVersion();

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_NVRTC_H
