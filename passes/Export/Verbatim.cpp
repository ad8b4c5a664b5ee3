//===- Verbatim.cpp - Nodes written as they were --------------------------===//

#include "passes/Export/Exporter.h"

using namespace mlir;

namespace mlc {

//===----------------------------------------------------------------------===//
// Demands of the outputs
//===----------------------------------------------------------------------===//

void Exporter::demand(Value value) {
  if (Operation *op = value.getDefiningOp(); op && demanded.insert(op).second)
    demands.push_back(value);
}

void Exporter::demandNode(int node) {
  if (!demandedNodes.insert(node))
    return;
  // Its other results are emitted along with it.
  for (const auto &[name, value] : writeBack->rootsOf(node))
    demand(value);
}

void Exporter::demandOutputs() {
  for (Value output : main.getBody().front().getTerminator()->getOperands())
    demand(output);
  for (size_t done = 0; !demands.empty() || done < demandedNodes.size();) {
    while (!demands.empty()) {
      Operation *op = demands.pop_back_val().getDefiningOp();
      if (int node = writeBack->nodeOf(op); node >= 0)
        demandNode(node);
      else
        for (Value operand : op->getOperands())
          demand(operand);
    }
    if (done == demandedNodes.size())
      continue;
    int node = demandedNodes[done++];
    for (const std::string &tensor : writeBack->readsOf(node)) {
      WriteBack::Source source = writeBack->sourceOf(node, tensor);
      if (source.kind == WriteBack::Source::Kind::Value)
        demand(source.value);
      else if (source.kind == WriteBack::Source::Kind::Node)
        demandNode(source.index);
    }
  }
}

//===----------------------------------------------------------------------===//
// Nodes and weights
//===----------------------------------------------------------------------===//

void Exporter::writeNode(int index) {
  if (!writtenNodes.insert(index).second)
    return;
  int at = graph->node_size();
  *graph->add_node() = writeBack->graph().node(index);
  const onnx::NodeProto &node = graph->node(at);
  llvm::StringSet<> inputs;
  for (int i = 0; i < node.input_size(); ++i)
    if (!node.input(i).empty()) {
      openInputs.push_back({at, i, index, node.input(i)});
      inputs.insert(node.input(i));
    }
  for (const std::string &tensor : writeBack->readsOf(index))
    if (!inputs.contains(tensor))
      openInputs.push_back({at, -1, index, tensor});
  for (const auto &[name, value] : writeBack->rootsOf(index))
    if (names.lookup(value).empty() ||
        writeBack->nodeOf(value.getDefiningOp()) == index)
      setName(value, name);
}

std::string Exporter::writeInitializer(int index) {
  const onnx::TensorProto &tensor = writeBack->graph().initializer(index);
  if (!writtenInitializers.insert(index).second)
    return tensor.name();
  onnx::TensorProto *copy = graph->add_initializer();
  *copy = tensor;
  if (llvm::Error error = embedData(*copy, writeBack->getOriginal().getFile()))
    fail(nullptr, llvm::toString(std::move(error)));
  countBytes(copy->ByteSizeLong());
  return tensor.name();
}

std::string Exporter::nameOf(const WriteBack::Source &source) {
  switch (source.kind) {
  case WriteBack::Source::Kind::Value:
    return nameOf(source.value);
  case WriteBack::Source::Kind::Node:
    writeNode(source.index);
    return "";
  case WriteBack::Source::Kind::Initializer:
    return writeInitializer(source.index);
  case WriteBack::Source::Kind::Missing:
    break;
  }
  fail(nullptr, "an input of a node that is kept is not there");
  return "";
}

/// Names the inputs of original nodes, after everything has a name. May add
/// nodes.
void Exporter::nameInputs() {
  for (size_t i = 0; i < openInputs.size() && error.empty(); ++i) {
    OpenInput open = openInputs[i];
    WriteBack::Source source = writeBack->sourceOf(open.origin, open.tensor);
    std::string name = nameOf(source);
    if (source.kind == WriteBack::Source::Kind::Node)
      name = open.tensor;
    if (open.index >= 0) {
      graph->mutable_node(open.node)->set_input(open.index, name);
    } else if (name != open.tensor && copies.insert(open.tensor).second) {
      // A subgraph refers to the old name.
      OnnxNode copy = node(nullptr, "Identity", {name}, 0);
      copy.proto->add_output(open.tensor);
      emittedOutputs[open.tensor] = Type();
    }
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static void collectReads(const onnx::GraphProto &graph,
                         std::vector<std::string> &reads);

/// The names that a node reads, including those inside its subgraphs.
static std::vector<std::string> readsOf(const onnx::NodeProto &node) {
  std::vector<std::string> reads(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g())
      collectReads(attribute.g(), reads);
  return reads;
}

static void collectReads(const onnx::GraphProto &graph,
                         std::vector<std::string> &reads) {
  for (const onnx::NodeProto &node : graph.node())
    llvm::append_range(reads, readsOf(node));
  for (const onnx::ValueInfoProto &output : graph.output())
    reads.push_back(output.name());
}

/// Sorts nodes after the nodes that they read, and otherwise keeps their order.
void Exporter::sortNodes() {
  llvm::StringMap<int> makers;
  for (int i = 0; i < graph->node_size(); ++i)
    for (const std::string &output : graph->node(i).output())
      if (!output.empty() && !makers.try_emplace(output, i).second)
        return fail(nullptr, "two nodes make the tensor '" + output + "'");
  std::vector<int> order, stack;
  std::vector<char> state(graph->node_size(), 0); // 1: open, 2: done
  for (int root = 0; root < graph->node_size(); ++root) {
    stack.push_back(root);
    while (!stack.empty()) {
      int top = stack.back();
      bool isFirst = state[top] == 0;
      size_t height = stack.size();
      if (state[top] != 2)
        for (const std::string &read : readsOf(graph->node(top)))
          if (auto it = makers.find(read);
              it != makers.end() && state[it->second] != 2) {
            if (!isFirst || state[it->second] == 1)
              return fail(nullptr, "nodes read one another in a circle");
            stack.push_back(it->second);
          }
      if (stack.size() != height) {
        state[top] = 1;
        continue;
      }
      stack.pop_back();
      if (state[top] != 2)
        order.push_back(top);
      state[top] = 2;
    }
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (int i : order)
    sorted.Add()->Swap(graph->mutable_node(i));
  graph->mutable_node()->Swap(&sorted);
}

/// Removes nodes and tensors that nothing reads.
void Exporter::pruneNodes() {
  llvm::StringSet<> read;
  Operation *end = main.getBody().front().getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    read.insert(outputName(i));
  google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
  std::vector<int> needed;
  for (int i = graph->node_size(); i-- > 0;) {
    const onnx::NodeProto &node = graph->node(i);
    if (llvm::none_of(node.output(), [&](const std::string &output) {
          return read.contains(output);
        }))
      continue;
    needed.push_back(i);
    for (const std::string &name : readsOf(node))
      read.insert(name);
  }
  for (int i : llvm::reverse(needed))
    kept.Add()->Swap(graph->mutable_node(i));
  graph->mutable_node()->Swap(&kept);
  google::protobuf::RepeatedPtrField<onnx::TensorProto> weights;
  for (onnx::TensorProto &tensor : *graph->mutable_initializer())
    if (read.contains(tensor.name()))
      weights.Add()->Swap(&tensor);
  graph->mutable_initializer()->Swap(&weights);
}

//===----------------------------------------------------------------------===//
// Headers and names
//===----------------------------------------------------------------------===//

void Exporter::reserveNamesOf(const onnx::GraphProto &from) {
  for (const onnx::TensorProto &tensor : from.initializer())
    usedNames.insert(tensor.name());
  for (const onnx::NodeProto &node : from.node()) {
    usedNodeNames.insert(node.name());
    for (const std::string &output : node.output())
      usedNames.insert(output);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        reserveNamesOf(attribute.g());
  }
}

/// Raises versions to those that emitters write.
void Exporter::raiseVersions() {
  model.set_ir_version(std::max(model.ir_version(), exportIrVersion));
  for (onnx::OperatorSetIdProto &entry : *model.mutable_opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx")
      entry.set_version(std::max(entry.version(), exportOpset));
}

/// Copies all of the model but its graph; the trail replaces an older one.
void Exporter::copyHeader(const onnx::ModelProto &from) {
  model.set_ir_version(from.ir_version());
  *model.mutable_opset_import() = from.opset_import();
  if (!writeBack->keepsOpset())
    raiseVersions();
  if (from.has_producer_name())
    model.set_producer_name(from.producer_name());
  if (from.has_producer_version())
    model.set_producer_version(from.producer_version());
  if (from.has_domain())
    model.set_domain(from.domain());
  if (from.has_model_version())
    model.set_model_version(from.model_version());
  if (from.has_doc_string())
    model.set_doc_string(from.doc_string());
  *model.mutable_functions() = from.functions();
  auto trail = module->getAttrOfType<StringAttr>("mlc.trail");
  for (const onnx::StringStringEntryProto &entry : from.metadata_props())
    if (!(trail && entry.key() == "mlc.trail"))
      *model.add_metadata_props() = entry;
  if (trail) {
    onnx::StringStringEntryProto *entry = model.add_metadata_props();
    entry->set_key("mlc.trail");
    entry->set_value(trail.str());
  }
  reserveNamesOf(from.graph());
}

/// Fixes open dims as `type` says; returns whether there were any.
static bool closeDims(onnx::ValueInfoProto &info, Type type) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(type);
  std::optional<Dims> dims = tensor ? getDims(tensor) : std::nullopt;
  if (!dims || !info.type().tensor_type().has_shape())
    return false;
  onnx::TensorShapeProto *shape =
      info.mutable_type()->mutable_tensor_type()->mutable_shape();
  bool isClosed = false;
  if (int(dims->size()) != shape->dim_size())
    return false;
  for (auto [i, dim] : llvm::enumerate(*dims)) {
    auto *entry = shape->mutable_dim(i);
    if (!dim.isConstant() || (entry->has_dim_value() && entry->dim_value() > 0))
      continue;
    entry->set_dim_value(dim.getConstant());
    isClosed = true;
  }
  return isClosed;
}

void closeDims(onnx::GraphProto &graph, func::FuncOp main) {
  llvm::StringMap<Type> arguments;
  for (BlockArgument argument : main.getArguments())
    if (auto name = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      "mlc.name"))
      arguments[name.getValue()] = argument.getType();
  bool isClosed = false;
  for (onnx::ValueInfoProto &input : *graph.mutable_input())
    isClosed |= closeDims(input, arguments.lookup(input.name()));
  if (!isClosed)
    return;
  for (auto [output, type] :
       llvm::zip(*graph.mutable_output(), main.getResultTypes()))
    closeDims(output, type);
  // Infos of inner tensors may have the open dims.
  graph.clear_value_info();
}

/// Copies the graph's name, its inputs and outputs, and infos of its tensors.
void Exporter::copyGraphHeader(const onnx::GraphProto &from) {
  if (from.has_name())
    graph->set_name(from.name());
  if (from.has_doc_string())
    graph->set_doc_string(from.doc_string());
  *graph->mutable_metadata_props() = from.metadata_props();
  llvm::StringSet<> there, dropped;
  for (const onnx::TensorProto &tensor : graph->initializer())
    there.insert(tensor.name());
  for (const onnx::TensorProto &tensor : from.initializer())
    if (!there.contains(tensor.name()))
      dropped.insert(tensor.name());
  for (const onnx::ValueInfoProto &input : from.input())
    if (!dropped.contains(input.name()))
      *graph->add_input() = input;
  *graph->mutable_output() = from.output();
  for (const onnx::NodeProto &node : graph->node())
    for (const std::string &output : node.output())
      if (!emittedOutputs.contains(output))
        there.insert(output);
  for (const onnx::ValueInfoProto &info : from.value_info())
    if (there.contains(info.name()))
      *graph->add_value_info() = info;
  for (const onnx::TensorAnnotation &entry : from.quantization_annotation())
    if (there.contains(entry.tensor_name()))
      *graph->add_quantization_annotation() = entry;
  closeDims(*graph, main);
}

} // namespace mlc
