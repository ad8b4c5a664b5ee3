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
