//===- Exporter.cpp - A graph under way to ONNX ---------------------------===//

#include "passes/Export/Exporter.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Graph/MovementOps.h"
#include "dialects/Module/CompileTime.h"
#include "passes/Import/TensorData.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;
using onnx::AttributeProto;

namespace mlc {

/// Protobuf holds less than 2 GB; leave some for the graph.
constexpr uint64_t maxWeightBytes = (uint64_t(2) << 30) - (uint64_t(64) << 20);

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

AttributeProto *OnnxNode::add(StringRef name,
                              AttributeProto::AttributeType type) {
  AttributeProto *attribute = proto->add_attribute();
  attribute->set_name(name.str());
  attribute->set_type(type);
  return attribute;
}
OnnxNode &OnnxNode::set(StringRef name, int64_t value) {
  add(name, AttributeProto::INT)->set_i(value);
  return *this;
}
OnnxNode &OnnxNode::set(StringRef name, double value) {
  add(name, AttributeProto::FLOAT)->set_f(float(value));
  return *this;
}
OnnxNode &OnnxNode::set(StringRef name, StringRef value) {
  add(name, AttributeProto::STRING)->set_s(value.str());
  return *this;
}
OnnxNode &OnnxNode::set(StringRef name, ArrayRef<int64_t> values) {
  AttributeProto *attribute = add(name, AttributeProto::INTS);
  for (int64_t value : values)
    attribute->add_ints(value);
  return *this;
}

static std::string locationName(Operation *op) {
  if (!op)
    return "";
  if (auto named = op->getLoc()->findInstanceOf<NameLoc>())
    return named.getName().str();
  return "";
}

/// The type of the last operand, which is not the condition of a selection.
static Type elementTypeOf(Operation *op) {
  return op && op->getNumOperands()
             ? getElementTypeOrSelf(op->getOperands().back().getType())
             : Type();
}

OnnxNode Exporter::node(Operation *op, StringRef type,
                        ArrayRef<std::string> inputs, unsigned numOutputs) {
  onnx::NodeProto *proto = graph->add_node();
  proto->set_op_type(type.str());
  for (const std::string &input : inputs)
    proto->add_input(input);
  while (proto->input_size() > 0 &&
         proto->input(proto->input_size() - 1).empty())
    proto->mutable_input()->RemoveLast();
  for (unsigned i = 0; i < numOutputs; ++i)
    proto->add_output(freshName(type));
  std::string name = locationName(op);
  if (name.empty())
    name = freshName(type);
  std::string unique = name;
  for (unsigned i = 1; !usedNodeNames.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  proto->set_name(unique);
  for (const std::string &output : proto->output())
    emittedOutputs[output] = elementTypeOf(op);
  return OnnxNode(proto);
}

OnnxNode Exporter::result(Operation *op, StringRef type,
                          ArrayRef<std::string> inputs) {
  OnnxNode made = node(op, type, inputs, 0);
  for (Value value : op->getResults()) {
    std::string name = names.lookup(value); // reserved for graph outputs
    if (name.empty())
      name = freshName(type);
    setName(value, name);
    emittedOutputs[name] = elementTypeOf(op);
    made.proto->add_output(name);
  }
  return made;
}

void Exporter::fail(Operation *op, const Twine &reason) {
  if (!error.empty())
    return;
  std::string where = locationName(op);
  error = (where.empty() ? "" : where + ": ") +
          (op ? (op->getName().getStringRef() + ": ").str() : "") +
          reason.str();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string Exporter::freshName(StringRef base) {
  std::string name;
  do
    name = ("mlc_" + base + "_" + Twine(counter++)).str();
  while (!usedNames.insert(name).second);
  return name;
}

std::string Exporter::nameOf(Value value) {
  if (auto found = names.find(value);
      found != names.end() && !found->second.empty() &&
      (isa<BlockArgument>(value) || !value.getDefiningOp<ConstantOp>()))
    return found->second;
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    if (int index = writeBack ? writeBack->initializerOf(value) : -1;
        index >= 0)
      return writeInitializer(index);
    return initializer(cast<ElementsAttr>(constant.getValue()), "weight");
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    std::string from = nameOf(broadcast.getX());
    std::string name =
        node(op, "Expand", {from, vector(broadcast.getDims().getDims())})
            .output();
    setName(value, name);
    return name;
  }
  fail(op, "is used before it is made");
  return "";
}

Exporter::Unbroadcast Exporter::unbroadcast(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  Unbroadcast source{value, dimsOf(value)};
  size_t ones = 0;
  while (ones < source.dims.size() && source.dims[ones].isConstant(1))
    ++ones;
  // A reshape that only adds leading ones is implicit in ONNX.
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    Dims from = dimsOf(reshape.getX());
    size_t added =
        source.dims.size() - std::min(from.size(), source.dims.size());
    if (added > 0 && added <= ones &&
        ArrayRef<IntExpr>(source.dims).drop_front(added) ==
            ArrayRef<IntExpr>(from))
      return {reshape.getX(), from};
  }
  if (value.getDefiningOp<ConstantOp>())
    source.dims.erase(source.dims.begin(), source.dims.begin() + ones);
  return source;
}

std::string Exporter::nameOf(const Unbroadcast &source) {
  auto constant = source.value.getDefiningOp<ConstantOp>();
  if (!constant)
    return nameOf(source.value);
  SmallVector<int64_t> shape;
  for (IntExpr dim : source.dims)
    shape.push_back(dim.getConstant());
  return initializer(
      reshapeElements(cast<ElementsAttr>(constant.getValue()), shape),
      "weight");
}

/// Whether numpy's rule broadcasts these to `dims`.
static bool covers(ArrayRef<Exporter::Unbroadcast> sources,
                   ArrayRef<IntExpr> dims) {
  // Leading dims of 1 are dims as well: one operand must have them.
  if (llvm::none_of(sources, [&](const Exporter::Unbroadcast &source) {
        return source.dims.size() == dims.size();
      }))
    return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool covered = dims[i].isConstant(1);
    for (const Exporter::Unbroadcast &source : sources) {
      size_t missing = dims.size() - source.dims.size();
      covered |= i >= missing && source.dims[i - missing] == dims[i];
    }
    if (!covered)
      return false;
  }
  return true;
}

SmallVector<std::string> Exporter::implicitBroadcast(ArrayRef<Value> operands,
                                                     ArrayRef<IntExpr> dims) {
  SmallVector<Unbroadcast> sources;
  for (Value value : operands)
    sources.push_back(unbroadcast(value));
  for (size_t i = 0; i < operands.size() && !covers(sources, dims); ++i)
    sources[i] = {operands[i], dimsOf(operands[i])};
  SmallVector<std::string> result;
  for (const Unbroadcast &source : sources)
    result.push_back(nameOf(source));
  return result;
}

bool Exporter::isChecked(IntExpr a, IntExpr b) {
  return a == b || checked.contains({a, b}) || checked.contains({b, a});
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

void Exporter::countBytes(uint64_t bytes) {
  weightBytes += bytes;
  if (weightBytes > maxWeightBytes)
    fail(currentOp, "the weights have more than 2 GB, which an ONNX file "
                    "cannot hold");
}

/// Before IR version 4 each initializer had to be an input of the model, too.
bool Exporter::hasConstantInputs() const { return model.ir_version() >= 4; }

AttributeProto *Exporter::addConstantNode(const std::string &name) {
  onnx::NodeProto *proto = graph->add_node();
  proto->set_op_type("Constant");
  proto->add_output(name);
  return OnnxNode(proto).add("value", AttributeProto::TENSOR);
}

std::string Exporter::initializer(ElementsAttr value, StringRef base) {
  if (std::string known = initializerNames.lookup(value); !known.empty())
    return known;
  std::string name = freshName(base);
  initializerNames[value] = name;
  addInitializer(name, value);
  return error.empty() ? name : "";
}

void Exporter::addInitializer(const std::string &name, ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  uint64_t bytes = uint64_t(type.getNumElements()) *
                   getRawElementSize(type.getElementType());
  countBytes(bytes);
  if (!error.empty())
    return;
  std::optional<std::vector<char>> raw = getRawBytes(value);
  int32_t onnxType = getOnnxType(type.getElementType());
  if (!raw || onnxType == 0)
    return fail(currentOp, "a constant's data is not there");
  onnx::TensorProto *tensor = hasConstantInputs()
                                  ? graph->add_initializer()
                                  : addConstantNode(name)->mutable_t();
  tensor->set_name(name);
  tensor->set_data_type(onnxType);
  for (int64_t dim : type.getShape())
    tensor->add_dims(dim);
  tensor->set_raw_data(raw->data(), raw->size());
}

void Exporter::addParameter(const std::string &name, ElementsAttr value) {
  if (!writeBack)
    return addInitializer(name, value);
  for (auto [i, tensor] : llvm::enumerate(writeBack->graph().initializer()))
    if (tensor.name() == name)
      writeInitializer(i);
}

std::string Exporter::integers(ArrayRef<int64_t> values) {
  Builder b(module.getContext());
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return initializer(DenseElementsAttr::get(type, values), "dims");
}

std::string Exporter::number(Type type, double value) {
  auto scalar = RankedTensorType::get({}, type);
  if (isa<FloatType>(type))
    return initializer(
        DenseElementsAttr::get(scalar, Attribute(FloatAttr::get(type, value))),
        "number");
  APInt bits(64, int64_t(value), /*isSigned=*/true);
  return initializer(
      DenseElementsAttr::get(
          scalar, Attribute(IntegerAttr::get(
                      type, bits.trunc(type.getIntOrFloatBitWidth())))),
      "number");
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

Exporter::Exporter(ModuleOp module, const WriteBack *writeBack)
    : module(module), writeBack(writeBack) {
  for (auto check : module.getOps<CheckOp>())
    if (check.getPredicate() == ComparePredicate::EQ)
      checked.insert({check.getLhs(), check.getRhs()});
}

void Exporter::emitValueInfo(onnx::ValueInfoProto *info, StringRef name,
                             Type type) {
  auto tensor = cast<RankedTensorType>(type);
  info->set_name(name.str());
  onnx::TypeProto_Tensor *proto = info->mutable_type()->mutable_tensor_type();
  proto->set_elem_type(getOnnxType(tensor.getElementType()));
  onnx::TensorShapeProto *shape = proto->mutable_shape();
  for (IntExpr dim : getDims(tensor).value_or(Dims())) {
    auto *entry = shape->add_dim();
    if (dim.isConstant())
      entry->set_dim_value(dim.getConstant());
    else
      entry->set_dim_param(dim.getKind() == IntExpr::Kind::Symbol
                               ? dim.getSymbol().str()
                               : dim.str());
  }
}

std::string attributeName(Attribute attribute, StringRef otherwise) {
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  return name ? name.str() : otherwise.str();
}

std::string Exporter::outputName(unsigned index) {
  return attributeName(main.getResultAttr(index, "mlc.name"),
                       "output" + std::to_string(index));
}

/// Inputs and outputs keep their names, so nothing else may take them.
void Exporter::reserveNames() {
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    usedNames.insert(attributeName(main.getArgAttr(i, "mlc.name"), ""));
  Operation *terminator = main.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    std::string name = outputName(i);
    usedNames.insert(name);
    Operation *op = value.getDefiningOp();
    // The first output of a value names it; others are copies.
    if (op && !isa<ConstantOp, BroadcastOp>(op) &&
        names.lookup(value).empty() && !isWrittenBack(op))
      names[value] = name;
  }
}

void Exporter::emitInputs() {
  for (BlockArgument argument : main.getArguments()) {
    unsigned i = argument.getArgNumber();
    std::string name = attributeName(main.getArgAttr(i, "mlc.name"),
                                     "input" + std::to_string(i));
    if (auto value = main.getArgAttrOfType<ElementsAttr>(i, kParameterAttr))
      addParameter(name, value);
    else if (!writeBack)
      emitValueInfo(graph->add_input(), name, argument.getType());
    setName(argument, name);
  }
}

void Exporter::emitOutputs() {
  Operation *terminator = main.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    std::string name = outputName(i);
    if (!writeBack)
      emitValueInfo(graph->add_output(), name, value.getType());
    std::string from = nameOf(value);
    // A node that is kept for other readers may make it, too.
    bool isMade =
        writeBack && llvm::any_of(graph->node(), [&](const auto &node) {
          return llvm::is_contained(node.output(), name);
        });
    if (from == name || isMade)
      continue;
    OnnxNode copy = node(nullptr, "Identity", {from}, 0);
    copy.proto->add_output(name);
    emittedOutputs[name] = Type();
  }
}

void Exporter::emitMetadata() {
  if (writeBack) {
    copyHeader(writeBack->getOriginal().proto());
    return;
  }
  model.set_ir_version(exportIrVersion);
  onnx::OperatorSetIdProto *opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(exportOpset);
  auto property = [&](StringRef key, StringRef value) {
    onnx::StringStringEntryProto *entry = model.add_metadata_props();
    entry->set_key(key.str());
    entry->set_value(value.str());
  };
  auto trail = module->getAttrOfType<StringAttr>("mlc.trail");
  if (auto metadata = module->getAttrOfType<DictionaryAttr>("mlc.metadata"))
    for (NamedAttribute entry : metadata)
      // A model that was optimized before has a different trail.
      if (auto value = dyn_cast<StringAttr>(entry.getValue());
          value && !(trail && entry.getName() == "mlc.trail"))
        property(entry.getName(), value);
  if (trail)
    property("mlc.trail", trail);
  auto source = module->getAttrOfType<DictionaryAttr>("mlc.onnx");
  std::string name =
      source ? attributeName(source.get("graph"), "") : std::string();
  graph->set_name(name.empty() ? "main" : name);
  auto text = [](DictionaryAttr from, StringRef key) {
    return from ? attributeName(from.get(key), "") : std::string();
  };
  // The producer stays the model's, not mlc.
  std::string producer = text(source, "producer_name");
  model.set_producer_name(source ? producer : "mlc");
  if (std::string version = text(source, "producer_version"); !version.empty())
    model.set_producer_version(version);
  auto header = module->getAttrOfType<DictionaryAttr>("mlc.header");
  if (std::string domain = text(header, "domain"); !domain.empty())
    model.set_domain(domain);
  if (std::string doc = text(header, "doc_string"); !doc.empty())
    model.set_doc_string(doc);
  if (std::string doc = text(header, "graph_doc_string"); !doc.empty())
    graph->set_doc_string(doc);
  if (header)
    if (auto version = header.getAs<IntegerAttr>("model_version"))
      model.set_model_version(version.getInt());
}

void Exporter::emitOperators() {
  for (Operation &op : main.getBody().front().without_terminator()) {
    if (writeBack && !demanded.contains(&op))
      continue;
    currentOp = &op;
    bool known = false;
    Emitter emit = findEmitter(&op, known);
    if (isWrittenBack(&op))
      writeNode(writeBack->nodeOf(&op));
    else if (emit)
      emit(*this, &op);
    else if (!known)
      fail(&op, "ONNX has no such operator");
    if (!error.empty())
      break;
  }
  currentOp = nullptr;
}

llvm::Expected<std::string> Exporter::run() {
  main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock())
    return llvm::createStringError("the module has no function main");
  graph = model.mutable_graph();
  emitMetadata();
  if (writeBack)
    demandOutputs();
  reserveNames();
  emitInputs();
  emitOperators();
  if (error.empty())
    emitOutputs();
  if (error.empty() && writeBack) {
    nameInputs();
    sortNodes();
    pruneNodes();
    if (llvm::Error failure =
            embedData(*graph, writeBack->getOriginal().getFile()))
      error = llvm::toString(std::move(failure));
    copyGraphHeader(writeBack->graph());
    if (std::string reason = fitOpset(model, emittedOutputs); !reason.empty())
      error = reason;
  }
  std::string bytes;
  if (error.empty() && !model.SerializeToString(&bytes))
    error = "the model has more than 2 GB, which an ONNX file cannot hold";
  if (!error.empty())
    return llvm::createStringError(error);
  return bytes;
}

} // namespace mlc
