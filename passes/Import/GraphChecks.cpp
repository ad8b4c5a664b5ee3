//===- GraphChecks.cpp - Checks of graphs' structure ----------------------===//

#include "passes/Import/GraphChecks.h"
#include "runtime/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include <queue>

using llvm::StringRef;

namespace mlc {

std::string describeNode(const onnx::NodeProto &node, int index) {
  std::string name = node.name();
  for (int i = 0; name.empty() && i < node.output_size(); ++i)
    name = node.output(i);
  if (name.empty())
    name = node.op_type() + " #" + std::to_string(index);
  // The name is written to JSON and artifacts.
  return runtime::isUtf8(name) ? name : runtime::printable(name);
}

static std::string quote(StringRef name) { return "'" + name.str() + "'"; }

namespace {

class Checker {
public:
  Checker(const onnx::GraphProto &graph,
          llvm::function_ref<bool(StringRef)> isOuter)
      : graph(graph), isOuter(isOuter) {}

  std::optional<GraphError> run(std::vector<int> &order) {
    if (auto error = checkNames())
      return error;
    if (auto error = declareInputs())
      return error;
    if (auto error = declareOutputsOfNodes())
      return error;
    if (auto error = sortNodes(order))
      return error;
    llvm::StringSet<> outputs;
    if (graph.output_size() == 0)
      return GraphError{"", "the graph has no outputs; the file was cut off "
                            "or the export failed"};
    for (const onnx::ValueInfoProto &output : graph.output())
      if (!known.contains(output.name()) && !producer.contains(output.name()) &&
          !isOuter(output.name()))
        return GraphError{"", "the output " + quote(output.name()) +
                                  " is made by no node; the file was cut off "
                                  "or the export failed"};
    return std::nullopt;
  }

private:
  /// Names of values, operators and dims must be UTF-8, as protobuf requires of
  /// every string, because users give them on a command line.
  std::optional<GraphError> checkNames() {
    auto wrong = [](const std::string &name) { return !runtime::isUtf8(name); };
    auto error = [](StringRef node, StringRef name) {
      return GraphError{node.str(), "has the name " + quote(name) +
                                        ", which is not UTF-8; rename it"};
    };
    for (const auto *values : {&graph.input(), &graph.output()})
      for (const onnx::ValueInfoProto &value : *values) {
        if (wrong(value.name()))
          return error("", value.name());
        for (const auto &dim : value.type().tensor_type().shape().dim())
          if (wrong(dim.dim_param()))
            return error(value.name(), dim.dim_param());
      }
    for (const onnx::TensorProto &tensor : graph.initializer())
      if (wrong(tensor.name()))
        return error("", tensor.name());
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      for (const std::string *name : {&node.op_type(), &node.domain()})
        if (wrong(*name))
          return error(describeNode(node, i), *name);
      for (const std::string &output : node.output())
        if (wrong(output))
          return error(describeNode(node, i), output);
    }
    return std::nullopt;
  }

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

  /// Finds the producers of the tensors that node `i` reads, also in its
  /// subgraphs.
  std::optional<GraphError> readsOf(int i, std::vector<int> &makers) {
    const onnx::NodeProto &node = graph.node(i);
    for (const std::string &input : node.input()) {
      if (auto found = producer.find(input); found != producer.end())
        makers.push_back(found->second);
      else if (!input.empty() && !known.contains(input) && !isOuter(input))
        return GraphError{describeNode(node, i),
                          "reads " + quote(input) +
                              ", which nothing makes; the file was cut off or "
                              "the export failed"};
    }
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        readsOfSubgraph(attribute.g(), i, makers);
      for (const onnx::GraphProto &inner : attribute.graphs())
        readsOfSubgraph(inner, i, makers);
    }
    return std::nullopt;
  }

  /// Finds the outer tensors that a subgraph of node `i` reads. Whether they
  /// exist is checked with the subgraph. The parser bounds the nesting.
  void readsOfSubgraph(const onnx::GraphProto &inner, int i,
                       std::vector<int> &makers) {
    // Some exporters reuse a name that is defined outside, before or after.
    std::vector<StringRef> made = namesMadeIn(inner);
    for (StringRef name : made)
      ++numHiding[name];
    auto read = [&](const std::string &name) {
      if (numHiding.lookup(name) > 0)
        return;
      if (auto found = producer.find(name);
          found != producer.end() && found->second != i)
        makers.push_back(found->second);
    };
    for (const onnx::NodeProto &node : inner.node()) {
      for (const std::string &input : node.input())
        read(input);
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          readsOfSubgraph(attribute.g(), i, makers);
        for (const onnx::GraphProto &graph : attribute.graphs())
          readsOfSubgraph(graph, i, makers);
      }
    }
    for (const onnx::ValueInfoProto &output : inner.output())
      read(output.name());
    for (StringRef name : made)
      --numHiding[name];
  }

  static std::vector<StringRef> namesMadeIn(const onnx::GraphProto &inner) {
    std::vector<StringRef> names;
    for (const onnx::ValueInfoProto &input : inner.input())
      names.push_back(input.name());
    for (const onnx::TensorProto &tensor : inner.initializer())
      names.push_back(tensor.name());
    for (const onnx::NodeProto &node : inner.node())
      names.insert(names.end(), node.output().begin(), node.output().end());
    return names;
  }

  /// Always takes the first node that can run next, so that a sorted graph
  /// keeps its order.
  std::optional<GraphError> sortNodes(std::vector<int> &order) {
    int count = graph.node_size();
    std::vector<std::vector<int>> makers(count), readers(count);
    std::vector<size_t> waitsFor(count);
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < count; ++i) {
      if (auto error = readsOf(i, makers[i]))
        return error;
      waitsFor[i] = makers[i].size();
      for (int maker : makers[i])
        readers[maker].push_back(i);
      if (waitsFor[i] == 0)
        ready.push(i);
    }
    order.clear();
    while (!ready.empty()) {
      int node = ready.top();
      ready.pop();
      order.push_back(node);
      for (int reader : readers[node])
        if (--waitsFor[reader] == 0)
          ready.push(reader);
    }
    if (int(order.size()) == count)
      return std::nullopt;
    int node = onCycle(makers, waitsFor);
    return GraphError{describeNode(graph.node(node), node),
                      "is part of a cycle: it reads what is made from its own "
                      "results"};
  }

  /// A waiting node waits for another waiting node, so following producers from
  /// any of them ends in a cycle.
  static int onCycle(const std::vector<std::vector<int>> &makers,
                     const std::vector<size_t> &waitsFor) {
    auto waits = [&](int node) { return waitsFor[node] != 0; };
    int node = 0;
    while (!waits(node))
      ++node;
    std::vector<bool> seen(makers.size(), false);
    while (!seen[node]) {
      seen[node] = true;
      node = *llvm::find_if(makers[node], waits);
    }
    return node;
  }

  const onnx::GraphProto &graph;
  llvm::function_ref<bool(StringRef)> isOuter;
  llvm::StringSet<> known;
  llvm::StringMap<int> producer;
  /// How many of the enclosing subgraphs under check define each name.
  llvm::StringMap<int> numHiding;
};

std::optional<GraphError> beyond(StringRef node, int64_t count, StringRef what,
                                 int64_t most) {
  if (count <= most)
    return std::nullopt;
  return GraphError{node.str(), ("has " + llvm::Twine(count) + " " + what +
                                 ", and at most " + llvm::Twine(most) +
                                 " are taken; split the model")
                                    .str()};
}

/// Adds the nodes of `graph` to `nodes`. The parser's limit on nesting bounds
/// the depth.
std::optional<GraphError> checkNodes(const onnx::GraphProto &graph,
                                     int64_t &nodes) {
  nodes += graph.node_size();
  if (auto error = beyond("", nodes, "nodes", GraphBounds::nodes))
    return error;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    for (auto [count, what] : {std::pair(node.input_size(), "inputs"),
                               std::pair(node.output_size(), "outputs")})
      if (count > GraphBounds::operands)
        return beyond(describeNode(node, i), count, what,
                      GraphBounds::operands);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        if (auto error = checkNodes(attribute.g(), nodes))
          return error;
  }
  return std::nullopt;
}

} // namespace

std::optional<GraphError> checkBounds(const onnx::GraphProto &graph) {
  // Old files list initializers among the inputs, too.
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  int64_t inputs = 0, nodes = 0;
  for (const onnx::ValueInfoProto &input : graph.input())
    inputs += !initialized.contains(input.name());
  if (auto error = beyond("", inputs, "inputs", GraphBounds::ports))
    return error;
  if (auto error =
          beyond("", graph.output_size(), "outputs", GraphBounds::ports))
    return error;
  return checkNodes(graph, nodes);
}

std::optional<GraphError>
checkGraph(const onnx::GraphProto &graph,
           llvm::function_ref<bool(StringRef)> isOuter,
           std::vector<int> &order) {
  return Checker(graph, isOuter).run(order);
}

} // namespace mlc
