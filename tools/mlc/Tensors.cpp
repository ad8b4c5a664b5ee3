//===- Tensors.cpp - Tensors in the host's memory -------------------------===//

#include "tools/mlc/Tensors.h"
#include "runtime/Npy.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;
namespace runtime = mlc::runtime;

llvm::Expected<HostTensor> mlc::cli::makeZeros(mlc_dtype type,
                                               std::vector<int64_t> dims) {
  HostTensor tensor;
  auto status = HostTensor::zeros(type, std::move(dims), tensor);
  if (!status.ok())
    return statusFailure(status);
  return tensor;
}

llvm::Expected<HostTensor> mlc::cli::readTensor(const std::string &path) {
  runtime::NpyArray array;
  if (auto status = runtime::readNpy(path, array); !status.ok())
    return statusFailure(status);
  return HostTensor::of(std::move(array));
}
