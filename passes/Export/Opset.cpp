//===- Opset.cpp - Emitted nodes in the model's opset ---------------------===//
//
// Emitters write the forms of opset 17. A model keeps its own opset, so that
// nodes that stay keep their meaning; emitted nodes take the forms of that
// opset.
//
//===----------------------------------------------------------------------===//

#include "dialects/Definition/ScalarFunctions.h"
#include "passes/Export/Exporter.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::SmallVector;
using llvm::StringRef;
using onnx::AttributeProto;

namespace mlc {

namespace {

class OpsetFitting {
public:
  OpsetFitting(onnx::ModelProto &model, int64_t opset)
      : graph(*model.mutable_graph()), opset(opset) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      constants[tensor.name()] = &tensor;
    for (const onnx::NodeProto &node : graph.node())
      if (node.op_type() == "Constant" && node.attribute_size() == 1 &&
          node.attribute(0).has_t())
        constants[node.output(0)] = &node.attribute(0).t();
  }

  /// `element` is the operands' element type; null if it does not matter.
  bool fit(onnx::NodeProto &node, mlir::Type element) {
    StringRef type = node.op_type();
    if (opset < std::max(firstOpsetOf(node), firstOpsetOf(type, element)))
      return false;
    if (type == "Squeeze" || type == "Unsqueeze" || type == "ReduceSum")
      return opset >= 13 || inputToAttribute(node, 1, "axes");
    if (type == "ReduceMean" || type == "ReduceMax" || type == "ReduceMin" ||
        type == "ReduceProd")
      return opset < 18 || axesToInput(node);
    if (type == "Slice" && opset < 10)
      return sliceToAttributes(node);
    if (type == "Clip" && opset < 11)
      return inputToNumber(node, 2, "max") && inputToNumber(node, 1, "min");
    if (type == "Pad" && opset < 11)
      return inputToNumber(node, 2, "value") &&
             inputToAttribute(node, 1, "pads");
    if (type == "Shape" && opset < 15)
      return shapeToGather(node);
    return true;
  }

  /// Nodes to insert before the node that was fitted last.
  SmallVector<onnx::NodeProto> before;

private:
  static const AttributeProto *find(const onnx::NodeProto &node,
                                    StringRef name) {
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.name() == name)
        return &attribute;
    return nullptr;
  }

  /// The oldest opset that has the operator as emitters write it, or in a form
  /// that `fit` makes.
  static int64_t firstOpsetOf(const onnx::NodeProto &node) {
    StringRef type = node.op_type();
    if (find(node, "allowzero"))
      return 14;
    if (type == "DepthToSpace")
      return find(node, "mode")->s() == "DCR" ? 7 : 11;
    if ((type == "MaxPool" || type == "AveragePool") &&
        (find(node, "ceil_mode") || find(node, "dilations")))
      return 10;
    if (type == "Softmax" || type == "LogSoftmax")
      return 13; // it flattened before
    if (type == "Slice" && node.input_size() > 4)
      return 10;
    if (const ScalarFunction *f = findByOnnxName(type))
      return f->onnx.opset;
    return llvm::StringSwitch<int64_t>(type)
        .Cases({"Expand", "Max", "Min"}, 8)
        .Cases({"Where", "Sign", "BatchNormalization"}, 9)
        .Case("Mod", 10)
        .Cases({"Range", "CumSum", "TopK"}, 11)
        .Cases({"GreaterOrEqual", "LessOrEqual"}, 12)
        .Case("Resize", 13)
        .Case("LayerNormalization", 17)
        .Default(7);
  }

  /// The oldest opset in which the operator takes elements of that type.
  static int64_t firstOpsetOf(StringRef type, mlir::Type element) {
    if (!element)
      return 7;
    bool isInteger = mlir::isa<mlir::IntegerType>(element);
    bool isSmall = isInteger && element.getIntOrFloatBitWidth() < 32;
    using Table = llvm::StringSwitch<int64_t>;
    if (element.isBF16())
      return Table(type)
          .Cases({"Conv", "ConvTranspose", "AveragePool", "GlobalAveragePool",
                  "MaxPool", "GlobalMaxPool", "InstanceNormalization", "Round",
                  "TopK"},
                 22)
          .Cases({"BatchNormalization", "CumSum"}, 14)
          .Case("Where", 16)
          .Default(13);
    if (element.isFloat())
      return type == "Equal" ? 11 : 7;
    return Table(type)
        .Cases({"MatMul", "Gemm", "Less", "Greater"}, 9)
        .Case("Pad", element.isInteger(1) ? 13 : 11)
        .Cases({"Max", "Min", "Clip", "MaxPool"}, 12)
        .Case("Relu", 14)
        .Cases({"Add", "Sub", "Mul", "Div"}, isSmall ? 14 : 7)
        .Default(7);
  }

  std::optional<SmallVector<int64_t>> integersOf(const std::string &name) {
    auto it = constants.find(name);
    if (it == constants.end() ||
        it->second->data_type() != onnx::TensorProto::INT64)
      return std::nullopt;
    const onnx::TensorProto &tensor = *it->second;
    SmallVector<int64_t> values(tensor.int64_data().begin(),
                                tensor.int64_data().end());
    if (tensor.has_raw_data()) {
      values.resize(tensor.raw_data().size() / sizeof(int64_t));
      std::memcpy(values.data(), tensor.raw_data().data(),
                  values.size() * sizeof(int64_t));
    }
    return values;
  }

  static void dropInputs(onnx::NodeProto &node, int from) {
    while (node.input_size() > from)
      node.mutable_input()->RemoveLast();
  }

  bool inputToAttribute(onnx::NodeProto &node, int input, StringRef name) {
    if (input >= node.input_size())
      return true;
    std::optional<SmallVector<int64_t>> values = integersOf(node.input(input));
    if (!values)
      return false;
    OnnxNode(&node).set(name, llvm::ArrayRef<int64_t>(*values));
    dropInputs(node, input);
    return true;
  }

  /// A float32 scalar input becomes an attribute; a missing bound or value has
  /// its default.
  bool inputToNumber(onnx::NodeProto &node, int input, StringRef name) {
    if (input >= node.input_size())
      return true;
    if (!node.input(input).empty()) {
      auto it = constants.find(node.input(input));
      if (it == constants.end() ||
          it->second->data_type() != onnx::TensorProto::FLOAT ||
          it->second->raw_data().size() != sizeof(float))
        return false;
      float value;
      std::memcpy(&value, it->second->raw_data().data(), sizeof(value));
      OnnxNode(&node).set(name, double(value));
    }
    dropInputs(node, input);
    return true;
  }

  bool sliceToAttributes(onnx::NodeProto &node) {
    return inputToAttribute(node, 3, "axes") &&
           inputToAttribute(node, 2, "ends") &&
           inputToAttribute(node, 1, "starts");
  }

  /// Axes are an input since opset 18.
  bool axesToInput(onnx::NodeProto &node) {
    for (int i = 0; i < node.attribute_size(); ++i) {
      if (node.attribute(i).name() != "axes")
        continue;
      onnx::NodeProto &constant = before.emplace_back();
      constant.set_op_type("Constant");
      constant.add_output(node.output(0) + "_axes");
      AttributeProto *value =
          OnnxNode(&constant).add("value_ints", AttributeProto::INTS);
      *value->mutable_ints() = node.attribute(i).ints();
      node.add_input(constant.output(0));
      node.mutable_attribute()->DeleteSubrange(i, 1);
      return true;
    }
    return true;
  }

  /// Shape of one dim: an element of the shape, picked by a vector of one.
  bool shapeToGather(onnx::NodeProto &node) {
    const AttributeProto *start = find(node, "start");
    if (!start)
      return true;
    before.resize(2);
    onnx::NodeProto &whole = before[0], &at = before[1];
    whole.set_op_type("Shape");
    whole.add_input(node.input(0));
    whole.add_output(node.output(0) + "_whole");
    at.set_op_type("Constant");
    at.add_output(node.output(0) + "_at");
    onnx::TensorProto *index =
        OnnxNode(&at).add("value", AttributeProto::TENSOR)->mutable_t();
    index->set_data_type(onnx::TensorProto::INT64);
    index->add_dims(1);
    index->add_int64_data(start->i());
    node.set_op_type("Gather");
    node.set_input(0, whole.output(0));
    node.add_input(at.output(0));
    node.clear_attribute();
    return true;
  }

  onnx::GraphProto &graph;
  int64_t opset;
  llvm::StringMap<const onnx::TensorProto *> constants;
};

} // namespace

std::string fitOpset(onnx::ModelProto &model,
                     const llvm::StringMap<mlir::Type> &emitted) {
  int64_t opset = 0;
  for (const onnx::OperatorSetIdProto &entry : model.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      opset = entry.version();
  OpsetFitting fitting(model, opset);
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  nodes.Swap(model.mutable_graph()->mutable_node());
  for (onnx::NodeProto &node : nodes) {
    auto made =
        node.output_size() > 0 ? emitted.find(node.output(0)) : emitted.end();
    if (made != emitted.end() && node.domain().empty() &&
        !fitting.fit(node, made->second))
      return node.name() + ": opset " + std::to_string(opset) +
             " has no such " + node.op_type();
    for (onnx::NodeProto &extra : fitting.before)
      model.mutable_graph()->add_node()->Swap(&extra);
    fitting.before.clear();
    model.mutable_graph()->add_node()->Swap(&node);
  }
  return "";
}

} // namespace mlc
