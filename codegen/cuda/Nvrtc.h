//===- Nvrtc.h - CUDA C++ to machine code -----------------------*- C++ -*-===//
//
// NVRTC, the compiler of CUDA C++ as a library: loaded when the first kernel
// is compiled, so that mlc needs none to be built or to make code for CPUs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_NVRTC_H
#define MLC_CODEGEN_CUDA_NVRTC_H

#include "codegen/cuda/CompiledSource.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlc::cuda {

/// What ptxas says of a kernel: registers of a thread; bytes of its stack, of
/// those that registers spilled there are stored and loaded.
struct Resources {
  int64_t registers = 0, stack = 0, spillStores = 0, spillLoads = 0;
};

/// Reads the log that `--ptxas-options=-v` gives for one kernel.
Resources readResources(llvm::StringRef log);

/// Compiles a translation unit for `arch` ("sm_80"). May run on several
/// threads. Errors: no NVRTC (with the remedy), an architecture that it does
/// not know, what it says of the source.
llvm::Expected<CompiledSource> compileSource(llvm::StringRef source,
                                             llvm::StringRef arch);

/// The version of NVRTC, "13.0"; an error where there is none.
llvm::Expected<std::string> nvrtcVersion();

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_NVRTC_H
