//===- Weights.cpp - Which weights of a model are trained -----------------===//

#include "passes/Import/Weights.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;

namespace mlc {

namespace {

/// An input of an operator that is a setting, not data.
struct Setting {
  StringRef op;
  int input;
  StringRef what;
};
constexpr Setting settings[] = {
    {"BatchNormalization", 3, "the running mean of BatchNormalization"},
    {"BatchNormalization", 4, "the running variance of BatchNormalization"},
    {"Clip", 1, "a bound of Clip"},
    {"Clip", 2, "a bound of Clip"},
    {"DequantizeLinear", 1, "the scale of a quantization"},
    {"Dropout", 1, "the ratio of Dropout"},
    {"OneHot", 2, "the values of OneHot"},
    {"Pad", 2, "the value that Pad fills with"},
    {"QuantizeLinear", 1, "the scale of a quantization"},
    {"Range", 0, "a bound of Range"},
    {"Range", 1, "a bound of Range"},
    {"Range", 2, "a step of Range"},
    {"Resize", 1, "the region of Resize"},
    {"Resize", 2, "the scales of Resize"},
    {"Upsample", 1, "the scales of Upsample"},
};

struct Uses {
  int count = 0;
  StringRef setting;
  /// Read by BatchNormalization in training form, which updates it.
  bool isStatistic = false;
  std::vector<std::string> copies;
};

/// Whether an operator passes a tensor on unchanged: reads of its output count
/// as reads of its input.
bool handsOn(const onnx::NodeProto &node) {
  return node.op_type() == "Identity" && node.output_size() == 1;
}

class Readers {
public:
  Readers(const onnx::GraphProto &graph, bool inTraining)
      : inTraining(inTraining) {
    visit(graph);
    for (const onnx::ValueInfoProto &output : graph.output())
      ++uses[output.name()].count;
  }

  Uses of(StringRef name) {
    auto it = uses.find(name);
    return it == uses.end() ? Uses() : it->second;
  }

private:
  void visit(const onnx::GraphProto &graph) {
    // From the last node on, so that uses of copies are known.
    for (int i = graph.node_size(); i-- > 0;) {
      const onnx::NodeProto &node = graph.node(i);
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          visit(attribute.g());
        for (const onnx::GraphProto &inner : attribute.graphs())
          visit(inner);
      }
      for (int k = 0; k < node.input_size(); ++k)
        use(node, k);
    }
  }

  void use(const onnx::NodeProto &node, int input) {
    if (node.input(input).empty())
      return;
    Uses through;
    if (handsOn(node))
      through = of(node.output(0));
    for (const Setting &setting : settings)
      if (node.domain().empty() && node.op_type() == setting.op &&
          input == setting.input) {
        through.setting = setting.what;
        through.isStatistic = trains(node);
      }
    Uses &known = uses[node.input(input)];
    ++known.count;
    if (!through.setting.empty())
      known.setting = through.setting;
    known.isStatistic |= through.isStatistic;
    if (handsOn(node)) {
      known.copies.push_back(node.output(0));
      llvm::append_range(known.copies, through.copies);
    }
  }

  bool trains(const onnx::NodeProto &node) const {
    if (node.op_type() != "BatchNormalization")
      return false;
    return inTraining ||
           llvm::any_of(node.attribute(), [](const auto &attribute) {
             return attribute.name() == "training_mode" && attribute.i() != 0;
           });
  }

  bool inTraining;
  llvm::StringMap<Uses> uses;
};

bool isFloat(int32_t type) {
  return type == onnx::TensorProto::FLOAT ||
         type == onnx::TensorProto::DOUBLE ||
         type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::BFLOAT16;
}

} // namespace

const onnx::TensorProto *findHeldTensor(const onnx::NodeProto &node) {
  if ((!node.domain().empty() && node.domain() != "ai.onnx") ||
      node.op_type() != "Constant" || node.output_size() != 1 ||
      node.attribute_size() != 1 || node.attribute(0).name() != "value" ||
      !node.attribute(0).has_t())
    return nullptr;
  return &node.attribute(0).t();
}

static Weight describe(const onnx::TensorProto &tensor, const std::string &name,
                       const Uses &uses) {
  Weight weight;
  weight.name = name;
  weight.dims.assign(tensor.dims().begin(), tensor.dims().end());
  bool isRead = isFloat(tensor.data_type()) && uses.count != 0;
  weight.canBeTrained = isRead && uses.setting.empty();
  weight.isStatistic = isRead && uses.isStatistic;
  weight.readers = uses.count;
  weight.copies = uses.copies;
  if (!isFloat(tensor.data_type()))
    weight.frozen = "is not of floats";
  else if (uses.count == 0)
    weight.frozen = "nothing reads it";
  else if (!uses.setting.empty())
    weight.frozen = uses.setting.str();
  else if (tensor.dims().empty())
    weight.frozen = "is a single number, as constants are";
  return weight;
}

std::vector<Weight> listWeights(const onnx::GraphProto &graph,
                                bool inTraining) {
  Readers readers(graph, inTraining);
  std::vector<Weight> weights;
  for (const onnx::TensorProto &tensor : graph.initializer())
    weights.push_back(
        describe(tensor, tensor.name(), readers.of(tensor.name())));
  for (const onnx::NodeProto &node : graph.node()) {
    const onnx::TensorProto *tensor = findHeldTensor(node);
    if (!tensor || !isFloat(tensor->data_type()) || tensor->dims().empty())
      continue;
    const std::string &name = node.output(0);
    Weight weight = describe(*tensor, name, readers.of(name));
    if (weight.frozen.empty())
      weight.frozen = "is in a Constant node";
    weights.push_back(std::move(weight));
  }
  return weights;
}

std::string nameWeights(const onnx::GraphProto &graph) {
  constexpr int shown = 10;
  const auto &weights = graph.initializer();
  std::string text;
  for (int i = 0; i < std::min(shown, weights.size()); ++i)
    text += (i == 0 ? "" : ", ") + weights[i].name();
  if (weights.size() > shown)
    text += " and " + std::to_string(weights.size() - shown) + " more";
  return text.empty() ? "none" : text;
}

} // namespace mlc
