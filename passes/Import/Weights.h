//===- Weights.h - Which weights of a model are trained ---------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_WEIGHTS_H
#define MLC_PASSES_IMPORT_WEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace mlc {

/// The tensor of a Constant node; null for other nodes.
const onnx::TensorProto *findHeldTensor(const onnx::NodeProto &node);

/// An initializer of a model, or a float tensor of a Constant node.
struct Weight {
  std::string name;
  std::vector<int64_t> dims;
  /// Why it is not trained by default; empty if it is.
  std::string frozen;
  /// Whether it can be trained on request: it is of floats, and something reads
  /// it.
  bool canBeTrained = false;
  /// Whether it is a running statistic of BatchNormalization in training form,
  /// which batches update.
  bool isStatistic = false;
  /// The number of nodes that read it, and its other names: outputs of
  /// Identity, which exporters leave when they merge weights.
  int readers = 0;
  std::vector<std::string> copies;
};

/// The initializers of `graph`, in the file's order, then the float constants
/// with dims of Constant nodes. Training changes a weight if it is an
/// initializer of floats, has at least one dim, and is read somewhere other
/// than as a setting (a running mean, the bounds of Clip, the scales of
/// Resize). Nodes inside If and Loop count as readers. `inTraining` is
/// ImportOptions::inTraining.
std::vector<Weight> listWeights(const onnx::GraphProto &graph, bool inTraining);

/// The names of the first initializers, for a message.
std::string nameWeights(const onnx::GraphProto &graph);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_WEIGHTS_H
