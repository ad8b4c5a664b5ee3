//===- LibraryFamilies.cpp - The library's kernels by families ------------===//

#include "runtime/LibraryFamilies.h"

namespace mlc::runtime {

void splitAxis(const LibraryCall &call, int64_t &outer, int64_t &inner) {
  const LibraryOperand &x = call.inputs[0];
  outer = inner = 1;
  for (size_t d = 0; d < x.rank; ++d) {
    if (d < size_t(call.args[0]))
      outer *= x.dims[d];
    if (d > size_t(call.args[0]))
      inner *= x.dims[d];
  }
}

const LibraryKernel *findLibraryKernel(const std::string &key) {
  for (const LibraryKernel *family : {rowKernels, scatterKernels})
    for (const LibraryKernel *kernel = family; kernel->key; ++kernel)
      if (key == kernel->key)
        return kernel;
  return nullptr;
}

} // namespace mlc::runtime
