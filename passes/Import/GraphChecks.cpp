//===- GraphChecks.cpp - Is the graph a graph? ----------------------------===//

#include "passes/Import/GraphChecks.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <vector>

using llvm::StringRef;

namespace mlc {

std::string describeNode(const onnx::NodeProto &node, int index) {
  if (!node.name().empty())
    return node.name();
  for (const std::string &output : node.output())
    if (!output.empty())
      return output;
  return node.op_type() + " #" + std::to_string(index);
}

static std::string quote(StringRef name) { return "'" + name.str() + "'"; }

namespace {

class Checker {
public:
  Checker(const onnx::GraphProto &graph,
          llvm::function_ref<bool(StringRef)> isOuter)
      : graph(graph), isOuter(isOuter) {}

  std::optional<GraphError> run() {
    if (auto error = declareInputs())
      return error;
    if (auto error = declareOutputsOfNodes())
      return error;
    if (auto error = checkOrder())
      return error;
    llvm::StringSet<> outputs;
    if (graph.output_size() == 0)
      return GraphError{"", "the graph has no outputs; the file was cut off "
                            "or the export failed"};
    for (const onnx::ValueInfoProto &output : graph.output())
      if (!known.contains(output.name()) && !isOuter(output.name()))
        return GraphError{"", "the output " + quote(output.name()) +
                                  " is made by no node; the file was cut off "
                                  "or the export failed"};
    return std::nullopt;
  }

private:
  std::optional<GraphError> declareInputs() {
    llvm::StringSet<> inputs;
    for (const onnx::ValueInfoProto &input : graph.input()) {
      if (input.name().empty())
        return GraphError{"", "an input has no name"};
      if (!inputs.insert(input.name()).second)
        return GraphError{"",
                          "two inputs have the name " + quote(input.name())};
      known.insert(input.name());
    }
    llvm::StringSet<> initializers;
    for (const onnx::TensorProto &tensor : graph.initializer()) {
      if (tensor.name().empty())
        return GraphError{"", "an initializer has no name"};
      if (!initializers.insert(tensor.name()).second)
        return GraphError{"", "two initializers have the name " +
                                  quote(tensor.name())};
      known.insert(tensor.name());
    }
    return std::nullopt;
  }

  std::optional<GraphError> declareOutputsOfNodes() {
    for (int i = 0; i < graph.node_size(); ++i) {
      if (graph.node(i).output_size() == 0)
        return GraphError{describeNode(graph.node(i), i), "has no outputs"};
      for (const std::string &output : graph.node(i).output()) {
        if (output.empty())
          continue;
        if (known.contains(output) || !producer.try_emplace(output, i).second)
          return GraphError{describeNode(graph.node(i), i),
                            "makes " + quote(output) +
                                ", which already exists; names must be unique"};
      }
    }
    return std::nullopt;
  }

  std::optional<GraphError> checkOrder() {
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string &input : graph.node(i).input()) {
        if (input.empty() || known.contains(input) ||
            (!producer.contains(input) && isOuter(input)))
          continue;
        std::string node = describeNode(graph.node(i), i);
        if (!producer.contains(input))
          return GraphError{node, "reads " + quote(input) +
                                      ", which nothing makes; the file was "
                                      "cut off or the export failed"};
        if (reaches(i, producer[input]))
          return GraphError{node, "is part of a cycle through " + quote(input)};
        return GraphError{node, "reads " + quote(input) +
                                    " before it is made; nodes must be "
                                    "sorted (onnx's shape inference or any "
                                    "exporter does)"};
      }
      for (const std::string &output : graph.node(i).output())
        if (!output.empty())
          known.insert(output);
    }
    return std::nullopt;
  }

  /// Whether a value of node `from` reaches node `to`.
  bool reaches(int from, int to) {
    llvm::StringMap<std::vector<int>> readers;
    for (int i = 0; i < graph.node_size(); ++i)
      for (const std::string &input : graph.node(i).input())
        readers[input].push_back(i);
    std::vector<bool> seen(graph.node_size(), false);
    std::vector<int> work = {from};
    while (!work.empty()) {
      int node = work.back();
      work.pop_back();
      if (node == to)
        return true;
      if (seen[node])
        continue;
      seen[node] = true;
      for (const std::string &output : graph.node(node).output())
        if (!output.empty())
          for (int reader : readers[output])
            work.push_back(reader);
    }
    return false;
  }

  const onnx::GraphProto &graph;
  llvm::function_ref<bool(StringRef)> isOuter;
  llvm::StringSet<> known;
  llvm::StringMap<int> producer;
};

} // namespace

std::optional<GraphError>
checkGraph(const onnx::GraphProto &graph,
           llvm::function_ref<bool(StringRef)> isOuter) {
  return Checker(graph, isOuter).run();
}

} // namespace mlc
