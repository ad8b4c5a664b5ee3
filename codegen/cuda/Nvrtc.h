//===- Nvrtc.h - CUDA C++ to machine code -----------------------*- C++ -*-===//
//
// NVRTC, the compiler of CUDA C++ as a library: loaded when the first kernel
// is compiled, so that mlc needs none to be built or to make code for CPUs.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_CUDA_NVRTC_H
#define MLC_CODEGEN_CUDA_NVRTC_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlc::cuda {

struct CompiledSource {
  std::string cubin, ptx;
  /// What ptxas says: registers, stack, spills.
  std::string log;
};

/// Compiles a translation unit for `arch` ("sm_80"). May run on several
/// threads. Errors: no NVRTC (with the remedy), an architecture that it does
/// not know, what it says of the source.
llvm::Expected<CompiledSource> compileSource(llvm::StringRef source,
                                             llvm::StringRef arch);

/// The version of NVRTC, "13.0"; an error where there is none.
llvm::Expected<std::string> nvrtcVersion();

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_NVRTC_H
