//===- PlanLayers.h - Stages of measured layers -----------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANLAYERS_H
#define MLC_TOOLS_MLC_PLANLAYERS_H

#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mlc::cli {

struct LayerRequest {
  /// Files of layers and of which read which (planner/stages/Layers.h).
  std::string profile, edges;
  /// A cluster and how many of its ranks, 0: all; or links between any two of
  /// so many ranks.
  std::string cluster;
  int64_t ranks = 0;
  std::optional<double> bandwidth = {};
  bool asJson = false;
};

/// Divides measured layers into stages and replicas, and prints them.
llvm::Error planLayers(const LayerRequest &request);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANLAYERS_H
