//===- GraphChecks.h - Checks of graphs' structure --------------*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_GRAPHCHECKS_H
#define MLC_PASSES_IMPORT_GRAPHCHECKS_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mlc {

/// The name of a node in messages: its name, else its first output, else its
/// operator and position.
std::string describeNode(const onnx::NodeProto &node, int index);

/// A contradiction in the graph's structure.
struct GraphError {
  std::string node; // empty when it is about the graph
  std::string text; // the problem and the remedy
};

/// Compile time and memory grow faster than the graph, so models beyond these
/// bounds are refused early.
struct GraphBounds {
  static constexpr int64_t nodes = 50'000;   ///< with those of subgraphs
  static constexpr int64_t ports = 4'096;    ///< inputs; and outputs
  static constexpr int64_t operands = 1'024; ///< inputs or outputs of a node
  static constexpr int64_t symbols = 1'024;  ///< open dims of the model
};

/// Reports what exceeds GraphBounds in the graph, including its subgraphs.
std::optional<GraphError> checkBounds(const onnx::GraphProto &graph);

/// Checks names: every value is made once, no value depends on itself, and no
/// input or output is missing. `order` receives the nodes in an order in which
/// they can run: ONNX demands that order in the file, but not every exporter
/// complies. `isOuter` tells the outer values that a subgraph sees.
std::optional<GraphError>
checkGraph(const onnx::GraphProto &graph,
           llvm::function_ref<bool(llvm::StringRef)> isOuter,
           std::vector<int> &order);

} // namespace mlc

#endif // MLC_PASSES_IMPORT_GRAPHCHECKS_H
