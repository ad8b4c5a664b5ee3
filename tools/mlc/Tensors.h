//===- Tensors.h - Tensors in the host's memory -----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TENSORS_H
#define MLC_TOOLS_MLC_TENSORS_H

#include "runtime/HostTensor.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

using runtime::HostTensor;

/// A tensor of zeros. Fails if its size overflows or memory is short.
llvm::Expected<HostTensor> makeZeros(mlc_dtype type, std::vector<int64_t> dims);

/// The array in the .npy file.
llvm::Expected<HostTensor> readTensor(const std::string &path);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TENSORS_H
