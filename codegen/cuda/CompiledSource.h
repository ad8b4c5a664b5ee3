//===- CompiledSource.h - What NVRTC made of a source -----------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_COMPILEDSOURCE_H
#define MLC_CODEGEN_CUDA_COMPILEDSOURCE_H

#include <string>

namespace mlc::cuda {

/// Code of one translation unit.
struct CompiledSource {
  std::string cubin, ptx;
  /// What ptxas says.
  std::string log;
};

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_COMPILEDSOURCE_H
