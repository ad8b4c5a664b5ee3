//===- MergedWeights.h - Weights merged by an exporter ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MERGEDWEIGHTS_H
#define MLC_TOOLS_MLC_MERGEDWEIGHTS_H

#include "passes/Import/Weights.h"
#include "tools/mlc/Tensors.h"

namespace mlc::cli {

/// Which of these weights, which have these values, an exporter may have made
/// of several, a sentence each of those that are trained. Exporters make one of
/// weights that are equal, as those of norms and biases are before they are
/// trained. One that several nodes read and whose elements are all equal, or
/// that has several names, may be such. Weights that are shared on purpose, as
/// embeddings are, begin with random numbers.
std::vector<std::string> findMerged(llvm::ArrayRef<const Weight *> weights,
                                    llvm::ArrayRef<HostTensor> values);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MERGEDWEIGHTS_H
