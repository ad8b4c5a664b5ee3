//===- MergedWeights.h - Weights that were several --------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MERGEDWEIGHTS_H
#define MLC_TOOLS_MLC_MERGEDWEIGHTS_H

#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// Which weights that are trained an exporter may have made of several, a
/// sentence each. Exporters make one of weights that are equal, as those of
/// norms and biases are before they are trained. One that several nodes read
/// and whose elements are all equal, or that has several names, may be such.
/// Weights that are shared on purpose, as embeddings are, begin with random
/// numbers.
std::vector<std::string> findMerged(const TrainingModel &training);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MERGEDWEIGHTS_H
