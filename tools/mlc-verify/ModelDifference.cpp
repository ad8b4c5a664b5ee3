//===- ModelDifference.cpp - Where two ONNX models differ -----------------===//

#include "tools/mlc-verify/ModelDifference.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace {

/// Walks both models at once. Every method tells whether they agree, and the
/// first thing that does not is noted. What has been compared is taken out of
/// the messages, so that nothing of them is overlooked.
class Comparison {
public:
  bool run(onnx::ModelProto &a, onnx::ModelProto &b) {
    if (!sameGraphs(*a.mutable_graph(), *b.mutable_graph()))
      return false;
    for (onnx::ModelProto *model : {&a, &b}) {
      model->clear_graph();
      model->clear_metadata_props();
      model->clear_doc_string();
    }
    return sameRest(a, b, "the model: versions or producer differ");
  }
  std::string difference;

private:
  bool differ(const std::string &text) {
    difference = text;
    return false;
  }

  template <typename Message>
  bool sameRest(const Message &a, const Message &b, const std::string &text) {
    return a.SerializeAsString() == b.SerializeAsString() || differ(text);
  }

  /// Binds a name of `a` to the one that takes its place in `b`.
  bool bind(const std::string &x, const std::string &y,
            const std::string &where) {
    if (x.empty() != y.empty())
      return differ(where + "'" + y + "' instead of '" + x + "'");
    if (x.empty())
      return true;
    if (!names.try_emplace(x, y).second || !taken.insert(y).second)
      return differ(where + "the name '" + y + "' is given twice");
    return true;
  }

  bool sameName(const std::string &x, const std::string &y,
                const std::string &where) {
    if (x.empty() && y.empty())
      return true;
    auto it = names.find(x);
    if (it != names.end() && it->second == y)
      return true;
    return differ(where + " is '" + y + "' instead of '" +
                  (it == names.end() ? x : it->second) + "'");
  }

  template <typename List>
  bool sameCount(const List &a, const List &b, const char *what) {
    return a.size() == b.size() ||
           differ("the graph: " + std::to_string(b.size()) + " " + what +
                  " instead of " + std::to_string(a.size()));
  }

  bool sameGraphs(onnx::GraphProto &a, onnx::GraphProto &b) {
    if (!samePorts(a.input(), b.input(), "input") ||
        !samePorts(a.output(), b.output(), "output") ||
        !sameCount(a.initializer(), b.initializer(), "weights") ||
        !sameCount(a.node(), b.node(), "nodes"))
      return false;
    for (const onnx::ValueInfoProto &input : a.input())
      if (!bind(input.name(), input.name(), "the inputs"))
        return false;
    // Names of outputs stay; no other tensor may take one.
    for (const onnx::ValueInfoProto &output : a.output())
      outputs.insert(output.name());
    for (int i = 0; i < a.initializer_size(); ++i)
      if (!sameWeights(*a.mutable_initializer(i), *b.mutable_initializer(i), i))
        return false;
    for (int i = 0; i < a.node_size(); ++i)
      if (!sameNodes(*a.mutable_node(i), *b.mutable_node(i), i))
        return false;
    for (onnx::GraphProto *graph : {&a, &b}) {
      graph->clear_input();
      graph->clear_output();
      graph->clear_initializer();
      graph->clear_node();
      graph->clear_doc_string();
    }
    return sameRest(a, b, "the graph: its name differs, or it holds more");
  }

  template <typename List>
  bool samePorts(const List &a, const List &b, const char *what) {
    if (!sameCount(a, b, what))
      return false;
    for (int i = 0; i < a.size(); ++i)
      if (!sameRest(a[i], b[i],
                    std::string(what) + " " + std::to_string(i) + " (" +
                        b[i].name() + "): name or type differs"))
        return false;
    return true;
  }

  bool sameWeights(onnx::TensorProto &a, onnx::TensorProto &b, int i) {
    std::string where = "weight " + std::to_string(i) + " (" + b.name() + "): ";
    if (a.raw_data() != b.raw_data())
      return differ(where + "its data differs");
    if (!bind(a.name(), b.name(), where))
      return false;
    for (onnx::TensorProto *tensor : {&a, &b}) {
      tensor->clear_raw_data();
      tensor->clear_name();
      tensor->clear_doc_string();
    }
    return sameRest(a, b, where + "its type or dims differ");
  }

  bool sameNodes(onnx::NodeProto &a, onnx::NodeProto &b, int i) {
    std::string where = "node " + std::to_string(i) + " (" + b.name() + "): ";
    if (a.op_type() != b.op_type() || a.domain() != b.domain())
      return differ(where + b.op_type() + " instead of " + a.op_type());
    if (a.input_size() != b.input_size() || a.output_size() != b.output_size())
      return differ(where + "has another number of inputs or outputs");
    for (int k = 0; k < a.input_size(); ++k)
      if (!sameName(a.input(k), b.input(k),
                    where + "input " + std::to_string(k)))
        return false;
    for (int k = 0; k < a.output_size(); ++k) {
      const std::string &x = a.output(k), &y = b.output(k);
      if ((outputs.contains(x) || outputs.contains(y)) && x != y)
        return differ(where + "makes '" + y + "' instead of '" + x + "'");
      if (!bind(x, y, where))
        return false;
    }
    for (onnx::NodeProto *node : {&a, &b}) {
      node->clear_name();
      node->clear_input();
      node->clear_output();
      node->clear_doc_string();
    }
    return sameRest(a, b, where + "its attributes differ");
  }

  llvm::StringMap<std::string> names; // expected → found
  llvm::StringSet<> taken, outputs;
};

} // namespace

std::optional<std::string> mlc::firstDifference(onnx::ModelProto expected,
                                                onnx::ModelProto found) {
  Comparison comparison;
  if (comparison.run(expected, found))
    return std::nullopt;
  return comparison.difference;
}
