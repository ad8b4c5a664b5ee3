//===- GraphChecks.h - Is the graph a graph? --------------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_GRAPHCHECKS_H
#define MLC_PASSES_IMPORT_GRAPHCHECKS_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlc {

/// What a message calls a node: its name, else its first output, else operator
/// and position.
std::string describeNode(const onnx::NodeProto &node, int index);

/// A contradiction in the graph's structure.
struct GraphError {
  std::string node; // empty when it is about the graph
  std::string text; // what, and the remedy
};

/// What is compiled grows faster than the graph in time and memory: more than
/// this of a kind is refused before it costs anything.
struct GraphBounds {
  static constexpr int64_t nodes = 50'000;   ///< with those of subgraphs
  static constexpr int64_t ports = 4'096;    ///< inputs; and outputs
  static constexpr int64_t operands = 1'024; ///< inputs or outputs of a node
  static constexpr int64_t symbols = 1'024;  ///< open dims of the model
};

/// What of the graph, its subgraphs included, is beyond GraphBounds.
std::optional<GraphError> checkBounds(const onnx::GraphProto &graph);

/// Checks names: every value is made once, none depends on itself, and no input
/// or output is missing. `order` becomes the nodes in an order in which they
/// can run: ONNX demands that a file holds them so, but not every exporter
/// does. `isOuter` tells the values that a subgraph sees from around it.
std::optional<GraphError>
checkGraph(const onnx::GraphProto &graph,
           llvm::function_ref<bool(llvm::StringRef)> isOuter,
           std::vector<int> &order);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHCHECKS_H
