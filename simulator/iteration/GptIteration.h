//===- GptIteration.h - What an iteration of a GPT takes --------*- C++ -*-===//
//
// A model of Megatron's training: float16, each layer recomputed in the
// backward pass, tensor, data and pipeline parallelism in that order of ranks,
// 1F1B, Adam without ZeRO. Kernels follow from operations and bytes, exchanges
// from the cluster's links (Network.h), the pipeline from the closed form of
// 1F1B. The constants (Constants.def) are the cluster's. docs/Clusters.md has
// the formulas.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_SIMULATOR_ITERATION_GPTITERATION_H
#define MLC_SIMULATOR_ITERATION_GPTITERATION_H

#include "simulator/iteration/Iteration.h"

namespace mlc::simulator {

/// Seconds of the last stage's rank, whose sum is the iteration.
struct IterationParts {
  double layers = 0;    ///< kernels of layers
  double tensor = 0;    ///< all-reduces of tensor parallelism in layers
  double logits = 0;    ///< logits and loss of the last stage
  double transfers = 0; ///< between stages
  double idle = 0;      ///< while the pipeline fills and drains
  double gradients = 0; ///< their all-reduce
  double update = 0;    ///< Adam, and what each iteration costs besides

  double total() const {
    return layers + tensor + logits + transfers + idle + gradients + update;
  }
};

/// `row` is one that readIterations accepts for `cluster`.
IterationParts predict(const Cluster &cluster, const Iteration &row);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_ITERATION_GPTITERATION_H
