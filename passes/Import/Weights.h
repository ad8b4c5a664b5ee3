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

/// What a Constant node holds as a tensor; null for other nodes.
const onnx::TensorProto *findHeldTensor(const onnx::NodeProto &node);

/// An initializer of a model, or a tensor of floats in a Constant node.
struct Weight {
  std::string name;
  std::vector<int64_t> dims;
  /// Why it is not trained unless somebody asks for it; empty where it is.
  std::string frozen;
  /// Whether asking helps: it is of floats, and something reads it.
  bool canBeTrained = false;
  /// Whether it is a running statistic of BatchNormalization in training form,
  /// which batches move.
  bool isStatistic = false;
  /// How many nodes read it, and what else it is called: outputs of Identity,
  /// which an exporter leaves where it has made one weight of several.
  int readers = 0;
  std::vector<std::string> copies;
};

/// The initializers of `graph`, in the file's order, then what Constant nodes
/// hold of floats with dims, and whether each is one that training changes: an
/// initializer of floats, of at least one dim, and read somewhere where it is
/// not a setting (a running mean, the bounds of Clip, the scales of Resize).
/// Nodes inside If and Loop count as readers. `inTraining` is
/// ImportOptions::inTraining.
std::vector<Weight> listWeights(const onnx::GraphProto &graph, bool inTraining);

/// The names of the first initializers, for a message.
std::string nameWeights(const onnx::GraphProto &graph);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_WEIGHTS_H
