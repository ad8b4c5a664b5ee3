//===- MergedWeights.h - Weights merged by an exporter ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MERGEDWEIGHTS_H
#define MLC_TOOLS_MLC_MERGEDWEIGHTS_H

#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// The trained weights that an exporter may have merged from several, one
/// sentence each. Exporters merge equal weights, such as those of norms and
/// biases before training. A candidate has several names, or is read by several
/// nodes and has equal elements only. Deliberately shared weights, such as
/// embeddings, start with random numbers.
std::vector<std::string> findMerged(const TrainingModel &training);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MERGEDWEIGHTS_H
