//===- Iteration.h - A measured or planned training iteration ---*- C++ -*-===//

#ifndef MLC_SIMULATOR_ITERATION_ITERATION_H
#define MLC_SIMULATOR_ITERATION_ITERATION_H

#include "runtime/Status.h"
#include "simulator/cluster/Cluster.h"
#include <string_view>

namespace mlc::simulator {

/// One iteration of a GPT, as Megatron trains it.
struct Iteration {
  int gpus = 1, globalBatch = 1, microBatch = 1;
  int hidden = 1, heads = 1, layers = 1, sequence = 1;
  int vocabulary = 50257; ///< GPT-2's
  int tensor = 1, data = 1, pipeline = 1;
  double seconds = 0; ///< as measured

  /// Of a data-parallel rank.
  int microBatches() const { return globalBatch / data / microBatch; }
};

/// Reads a CSV file with a line of columns: gpus, global_batch, micro_batch,
/// hidden, heads, layers, sequence, tensor, data, pipeline, iteration_ms, and
/// where wanted vocabulary and parameters_billion (which is not used).
/// MLC_BAD_FILE with line and column's name for missing and unknown columns,
/// numbers out of range (an iteration takes from a microsecond to 1e6 seconds),
/// and rows that do not fit together: gpus is tensor *
/// data * pipeline and no more than the cluster has, a batch divides into
/// micro-batches, layers into stages, heads over tensor ranks.
runtime::Status readIterations(std::string_view text, const Cluster &cluster,
                               std::vector<Iteration> &rows);

} // namespace mlc::simulator

#endif // MLC_SIMULATOR_ITERATION_ITERATION_H
