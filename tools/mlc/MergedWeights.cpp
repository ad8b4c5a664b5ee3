//===- MergedWeights.cpp - Weights merged by an exporter ------------------===//

#include "tools/mlc/MergedWeights.h"
#include "runtime/Text.h"
#include <cstring>

using namespace mlc;
using namespace mlc::cli;

static bool isUniform(const HostTensor &tensor) {
  size_t width = mlc_dtype_size(tensor.type);
  for (size_t i = width; i + width <= tensor.bytes; i += width)
    if (std::memcmp(tensor.data.get(), tensor.data.get() + i, width) != 0)
      return false;
  return true;
}

std::vector<std::string>
mlc::cli::findMerged(llvm::ArrayRef<const Weight *> weights,
                     llvm::ArrayRef<HostTensor> values) {
  std::vector<std::string> found;
  for (const auto &[weight, value] : llvm::zip(weights, values)) {
    bool isNamedTwice = !weight->copies.empty();
    if (weight->isStatistic || weight->readers < 2 ||
        (!isNamedTwice && (!isUniform(value) || value.bytes == 0)))
      continue;
    std::string names;
    for (const std::string &name : weight->copies)
      names += (names.empty() ? ", also called '" : "', '") + name;
    found.push_back(
        "the weight '" + runtime::printable(weight->name) + "'" +
        runtime::printable(names) + (names.empty() ? "" : "'") +
        " is read by " + std::to_string(weight->readers) + " nodes" +
        (isUniform(value) ? ", and all its elements are equal" : "") +
        ": where an exporter has made one of weights that began equal, they "
        "are trained as one; to train them apart, export them apart");
  }
  return found;
}
