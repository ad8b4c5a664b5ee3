//===- PartitionOptions.h - What a partition is told ------------*- C++ -*-===//

#ifndef MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H
#define MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H

#include <string>

namespace mlc {

struct PartitionOptions {
  /// How sums, and parts of them, are made, and parts brought together: of
  /// runtime/transport/Algorithms.def; empty: as the engine chooses.
  std::string algorithm;
  /// States that are split are gathered anew behind the first result that is
  /// none, the loss: nobody keeps them whole from there to the gradients
  /// (ZeRO-3).
  bool regather = false;
};

} // namespace mlc

#endif // MLC_PASSES_DISTRIBUTE_PARTITIONOPTIONS_H
