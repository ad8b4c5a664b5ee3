//===- DeviceHeader.h - The text of mlc_device.cuh --------------*- C++ -*-===//

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

/// The name by which kernels include it, and its text (ends with a zero).
constexpr const char *deviceHeaderName = "mlc_device.cuh";
llvm::StringRef deviceHeaderText();
/// The text of a skeleton of that name.
llvm::StringRef skeletonText(llvm::StringRef name);

} // namespace cuda
} // namespace mlc

#endif // MLC_CODEGEN_CUDA_DEVICEHEADER_H
