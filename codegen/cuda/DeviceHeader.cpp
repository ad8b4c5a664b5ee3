//===- DeviceHeader.cpp - The texts of device headers ---------------------===//

#include "codegen/cuda/DeviceHeader.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlc::cuda {

llvm::StringRef skeletonText(llvm::StringRef name) {
  for (const EmbeddedKernelFile &file : embeddedKernelFiles())
    if (file.name == name)
      return file.text;
  llvm_unreachable("a file of codegen/cuda/kernels");
}

bool includesHeader(llvm::StringRef source, llvm::StringRef name) {
  return source.contains(("#include \"" + name + "\"").str());
}

} // namespace mlc::cuda
