//===- DeviceHeader.cpp - The text of mlc_device.cuh ----------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlc::cuda {

llvm::StringRef skeletonText(llvm::StringRef name) {
  for (const EmbeddedKernelFile &file : embeddedKernelFiles())
    if (file.name == name)
      return file.text;
  llvm_unreachable("a file of codegen/cuda/kernels");
}

llvm::StringRef deviceHeaderText() { return skeletonText(deviceHeaderName); }

} // namespace mlc::cuda
