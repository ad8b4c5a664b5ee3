//===- PartitionOptions.h - What a partition is told ------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H
#define MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H

#include <string>

namespace mlc {

struct PartitionOptions {
  /// The algorithm of sums, reduce-scatters and gathers, one of
  /// runtime/transport/Algorithms.def; empty: the engine chooses.
  std::string algorithm;
  /// Gathers split states again after the first result that is no state, the
  /// loss, so that no rank keeps them whole until the gradients (ZeRO-3).
  bool reshardAfterForward = false;
  /// Leaves pins (dialects/Dist/Pins.h), for what comes along other axes.
  bool keepsPins = false;
};

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H
