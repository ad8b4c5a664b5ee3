//===- Resources.h - What a kernel takes, as ptxas says ---------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_RESOURCES_H
#define MLC_CODEGEN_CUDA_RESOURCES_H

#include "codegen/kernel/Backend.h"

namespace mlc::cuda {

/// What `log`, the text of `--ptxas-options=-v`, says of the kernel `symbol`;
/// nothing where it says nothing of its registers.
std::optional<KernelResources> readResources(llvm::StringRef log,
                                             llvm::StringRef symbol);

} // namespace mlc::cuda

#endif // MLC_CODEGEN_CUDA_RESOURCES_H
