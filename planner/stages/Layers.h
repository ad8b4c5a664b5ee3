//===- Layers.h - The layers of a network, as numbers -----------*- C++ -*-===//
//
// What a planner of stages knows of a network: how long layers take, and how
// many bytes they make and have. Layers come from measurements (a profile) or
// from a cost model.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_STAGES_LAYERS_H
#define MLC_PLANNER_STAGES_LAYERS_H

#include "runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlc::planner {

/// A layer, or several in a row.
struct Layer {
  std::string name;
  double forwardSeconds = 0, backwardSeconds = 0;
  /// Bytes that later layers read of it, for one micro-batch.
  double outputBytes = 0;
  /// Bytes of its weights.
  double weightBytes = 0;

  double seconds() const { return forwardSeconds + backwardSeconds; }
};

/// Layers of which each may read any earlier one.
struct LayerGraph {
  std::vector<Layer> layers;
  /// Pairs of layers of which the second reads the first.
  std::vector<std::pair<size_t, size_t>> edges;

  /// Reads a profile: lines of `layer,operator,forward_ms,backward_ms,
  /// activation_bytes,parameter_bytes`, and lines of `from,to`, each below a
  /// line of these names. Layers are put into an order in which each comes
  /// after those that it reads. Errors name the text, by its name, and the
  /// line, and a layer that is missing, given twice or reads itself.
  struct Text {
    std::string name;
    std::string_view text;
  };
  static runtime::Status parse(const Text &layers, const Text &edges,
                               LayerGraph &graph);

  /// The layers between cuts that at most `mostTensors` cross, each joined to
  /// one layer with the bytes of these tensors: the chain that PipeDream's
  /// dynamic program takes (Narayanan et al. 2019, section 3.1).
  std::vector<Layer> chain(size_t mostTensors = SIZE_MAX) const;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_STAGES_LAYERS_H
