//===- DeviceHeader.h - The texts of device headers -------------*- C++ -*-===//

#ifndef MLC_CODEGEN_CUDA_DEVICEHEADER_H
#define MLC_CODEGEN_CUDA_DEVICEHEADER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlc {

/// A file of codegen/cuda/kernels, embedded.
struct EmbeddedKernelFile {
  llvm::StringRef name, text;
};
llvm::ArrayRef<EmbeddedKernelFile> embeddedKernelFiles();

namespace cuda {

/// The headers that kernels include by name: the first always, the second
/// those for sm_90a that use its instructions. Texts end with a zero.
inline constexpr const char *deviceHeaderNames[] = {"mlc_device.cuh",
                                                    "mlc_hopper.cuh"};
/// Whether a kernel's source includes the header of that name.
bool includesHeader(llvm::StringRef source, llvm::StringRef name);
/// The text of a skeleton, or header, of that name.
llvm::StringRef skeletonText(llvm::StringRef name);

} // namespace cuda
} // namespace mlc

#endif // MLC_CODEGEN_CUDA_DEVICEHEADER_H
