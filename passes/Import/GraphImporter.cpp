//===- GraphImporter.cpp - One ONNX graph becomes operators ---------------===//

#include "passes/Import/GraphImporter.h"
#include "dialects/Module/CompileTime.h"
#include "dialects/Symbolic/TypeText.h"
#include "passes/Import/GraphChecks.h"
#include "passes/Import/Handlers.h"
#include "passes/Import/Weights.h"
#include "runtime/Text.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace mlc {

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

ImportSession::ImportSession(MLIRContext *context, ModelFile &file,
                             ImportReport &report, StringRef fileName)
    : state(context), file(file), report(report), fileName(fileName),
      handler(context, [this](Diagnostic &diag) {
        if (diag.getSeverity() == DiagnosticSeverity::Error)
          diagnostic = withPlainTypes(diag.str());
        return success();
      }) {
  state.file = &file;
  for (const onnx::OperatorSetIdProto &entry : file.proto().opset_import()) {
    StringRef domain(entry.domain());
    opsets[domain == "ai.onnx" ? "" : domain] = entry.version();
  }
  for (const onnx::FunctionProto &function : file.proto().functions())
    functions.insert({function.domain(), function.name()});
}

std::optional<int64_t> ImportSession::opsetOf(StringRef domain) const {
  auto found = opsets.find(domain == "ai.onnx" ? "" : domain);
  return found == opsets.end() ? std::nullopt : std::optional(found->second);
}

bool ImportSession::isFunction(const onnx::NodeProto &node) const {
  return !functions.empty() &&
         functions.count({node.domain(), node.op_type()}) != 0;
}

void reportError(ImportReport &report, StringRef what, llvm::Error error) {
  std::error_code code;
  std::string text;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &e) {
    code = e.convertToErrorCode();
    text = e.message();
  });
  if (report.status == Exit::BadFile || report.status == Exit::Resources)
    return;
  report.status = code.category() == std::generic_category() &&
                          runtime::isResourceError(code.value())
                      ? Exit::Resources
                      : Exit::BadFile;
  // One line, even if names have line breaks.
  report.message = runtime::printable((what + ": " + text).str());
}

void ImportSession::damaged(StringRef node, const Twine &text) {
  end(node,
      llvm::createStringError(llvm::inconvertibleErrorCode(), text.str()));
}

void ImportSession::beyond(StringRef node, const Twine &text) {
  end(node,
      llvm::createStringError(
          std::make_error_code(std::errc::not_enough_memory), text.str()));
}

void ImportSession::end(StringRef node, llvm::Error error) {
  reportError(report, node.empty() ? fileName : (fileName + ": " + node).str(),
              std::move(error));
}

void ImportSession::refuse(UnsupportedNode node, bool isContradiction) {
  // Names in a damaged file may have any bytes, and reports become lines on a
  // terminal and JSON.
  for (std::string *text : {&node.name, &node.op, &node.domain, &node.reason})
    *text = runtime::printable(*text);
  for (std::string &type : node.inputTypes)
    type = runtime::printable(type);
  if (isContradiction)
    damaged(node.name, node.op + ": " + node.reason);
  else if (report.ok())
    report.status = Exit::Unsupported;
  report.unsupported.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Tensor *GraphImporter::find(StringRef name) {
  if (auto found = names.find(name); found != names.end())
    return found->second;
  return outer ? outer->find(name) : nullptr;
}

Tensor &GraphImporter::define(StringRef name, Tensor tensor) {
  tensors.push_back(std::move(tensor));
  names[name] = &tensors.back();
  return tensors.back();
}

Location GraphImporter::location(StringRef name) {
  MLIRContext *context = session.state.builder.getContext();
  return NameLoc::get(StringAttr::get(context, path + name.str()));
}

Value GraphImporter::materialize(Tensor &tensor, StringRef name) {
  onnx::NodeProto none;
  Node node(session.state, none, 0, location(name));
  return node.materialize(tensor);
}

bool GraphImporter::importInitializers() {
  if (graph.sparse_initializer_size() != 0)
    session.refuse({path + graph.sparse_initializer(0).values().name(),
                    "(initializer)",
                    "",
                    0,
                    {},
                    "sparse initializers are not supported"},
                   false);
  for (const onnx::TensorProto &proto : graph.initializer())
    if (!importWeight(proto, proto.name(), "initializer"))
      return false;
  return true;
}

bool GraphImporter::importWeight(const onnx::TensorProto &proto, StringRef name,
                                 StringRef kind) {
  MLIRContext *context = session.state.builder.getContext();
  std::string reason;
  if (!getElementType(context, proto.data_type()))
    reason = "elements of " + describeOnnxType(proto.data_type()) +
             " are not supported";
  else if (proto.dims_size() > maxRank)
    reason = "has " + std::to_string(proto.dims_size()) +
             " dims, and at most " + std::to_string(maxRank) + " are supported";
  if (!reason.empty()) {
    define(name, Tensor());
    session.refuse(
        {path + name.str(), "(" + kind.str() + ")", "", 0, {}, reason}, false);
    return true;
  }
  llvm::Expected<ElementsAttr> value =
      readTensor(context, proto, session.file, name);
  if (!value) {
    session.end((kind + " '" + name + "'").str(), value.takeError());
    return false;
  }
  Tensor tensor;
  tensor.constant = *value;
  tensor.elementType = value->getElementType();
  tensor.dims = *getDims(cast<RankedTensorType>(value->getType()));
  define(name, std::move(tensor));
  return true;
}

bool GraphImporter::importConstant(StringRef name) {
  for (const onnx::NodeProto &node : graph.node())
    if (const onnx::TensorProto *held = findHeldTensor(node);
        held && node.output(0) == name)
      return importWeight(*held, name, "Constant");
  return false;
}

Value GraphImporter::makeParameter(StringRef name, func::FuncOp main) {
  auto found = names.find(name);
  if (found == names.end() && importConstant(name))
    found = names.find(name);
  if (found == names.end() || !found->second->constant)
    return {};
  Tensor &tensor = *found->second;
  MLIRContext *context = main.getContext();
  Builder b(context);
  unsigned index = main.getNumArguments();
  (void)main.insertArgument(
      index, getTensorType(tensor.dims, tensor.elementType),
      b.getDictionaryAttr({b.getNamedAttr("mlc.name", b.getStringAttr(name)),
                           b.getNamedAttr(kParameterAttr, tensor.constant)}),
      location(name));
  tensor.constant = {};
  tensor.value = main.getArgument(index);
  return tensor.value;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static std::string typeOf(const Tensor &tensor) {
  return tensor.elementType ? typeText(tensor.elementType, tensor.dims) : "?";
}

void GraphImporter::refuse(const onnx::NodeProto &proto, int index,
                           StringRef reason, bool isContradiction,
                           ArrayRef<Remedy> remedies) {
  UnsupportedNode node;
  node.name = path + describeNode(proto, index);
  node.op = proto.op_type();
  node.domain = proto.domain();
  node.opset = session.opsetOf(proto.domain()).value_or(0);
  for (const std::string &input : proto.input()) {
    Tensor *tensor = find(input);
    node.inputTypes.push_back(input.empty() ? ""
                              : tensor      ? typeOf(*tensor)
                                            : "?");
  }
  node.reason = reason.str();
  node.remedies.assign(remedies.begin(), remedies.end());
  session.refuse(std::move(node), isContradiction);
}

bool GraphImporter::bindInputs(Node &node, const onnx::NodeProto &proto,
                               unsigned minInputs, unsigned maxInputs,
                               bool &unknown) {
  unsigned count = proto.input_size();
  while (count > 0 && proto.input(count - 1).empty())
    --count;
  if (count > maxInputs) {
    (void)node.invalid("has " + Twine(count) + " inputs, at most " +
                       Twine(maxInputs) + " are allowed");
    return false;
  }
  unknown = false;
  for (unsigned i = 0; i < count; ++i) {
    Tensor *tensor = proto.input(i).empty() ? nullptr : find(proto.input(i));
    node.inputs.push_back(tensor);
    unknown |= tensor && !tensor->elementType;
  }
  // All inputs of variadic operators are required.
  unsigned required =
      maxInputs == anyNumber ? std::max(minInputs, count) : minInputs;
  for (unsigned i = 0; i < required; ++i)
    if (!node.has(i)) {
      (void)node.invalid("input " + Twine(i) + " is missing");
      return false;
    }
  return true;
}

void GraphImporter::defineOutputsAsDeclared(const onnx::NodeProto &proto) {
  OpBuilder &builder = session.state.builder;
  MLIRContext *context = builder.getContext();
  if (!declared) {
    declared.emplace();
    for (const onnx::ValueInfoProto &info : graph.value_info())
      declared->try_emplace(info.name(), &info);
  }
  for (const std::string &output : proto.output()) {
    if (output.empty())
      continue;
    Tensor &tensor = define(output, Tensor());
    const onnx::ValueInfoProto *info = declared->lookup(output);
    if (!info || !info->type().has_tensor_type())
      continue;
    const onnx::TypeProto_Tensor &type = info->type().tensor_type();
    Type element = getElementType(context, type.elem_type());
    if (!type.has_shape() || !element || type.shape().dim_size() > maxRank)
      continue;
    for (const auto &dim : type.shape().dim())
      tensor.dims.push_back(
          dim.has_dim_value() && dim.dim_value() >= 0
              ? IntExpr::constant(context, dim.dim_value())
              : IntExpr::symbol(context,
                                dim.dim_param().empty()
                                    ? output + "_d" +
                                          std::to_string(tensor.dims.size())
                                    : dim.dim_param()));
    tensor.elementType = element;
    // A placeholder for the value; the graph is discarded after the report.
    tensor.value = UnrealizedConversionCastOp::create(
                       builder, location(output),
                       getTensorType(tensor.dims, element), ValueRange())
                       .getResult(0);
  }
}

/// Operators whose output shape depends on the inputs' elements.
static bool dependsOnData(StringRef op) {
  return op == "NonZero" || op == "Compress" || op == "Unique" ||
         op == "NonMaxSuppression";
}

static StringRef refusalOf(StringRef op) {
  if (dependsOnData(op))
    return "the shape of its output depends on data, which is not supported";
  return "this operator is not supported";
}

/// The names that `graph` and its nested graphs read.
static void collectReads(const onnx::GraphProto &graph,
                         llvm::StringSet<> &names) {
  for (const onnx::ValueInfoProto &output : graph.output())
    names.insert(output.name());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &input : node.input())
      names.insert(input);
    // The parser's limit on nesting bounds the depth.
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        collectReads(attribute.g(), names);
  }
}

bool GraphImporter::isRead(StringRef name) {
  if (!reads)
    collectReads(graph, reads.emplace());
  return !name.empty() && reads->contains(name);
}

bool GraphImporter::importNode(const onnx::NodeProto &proto, int index) {
  std::string name = describeNode(proto, index);
  std::optional<int64_t> opset = session.opsetOf(proto.domain());
  StringRef domain =
      proto.domain() == "ai.onnx" ? "" : StringRef(proto.domain());
  if (!opset) {
    refuse(proto, index,
           "the model names no opset version for the domain '" +
               proto.domain() + "'",
           /*isContradiction=*/true);
    return false;
  }
  if (session.isFunction(proto)) {
    refuse(proto, index,
           "functions that the model defines are not supported; inline them "
           "with onnx.inliner",
           false);
    defineOutputsAsDeclared(proto);
    return true;
  }
  if (domain.empty() && proto.op_type() == "If")
    return importIf(proto, index);
  // Parameters are defined before the nodes.
  if (findHeldTensor(proto) && names.contains(proto.output(0)))
    return true;
  const OperatorEntry *entry = findOperator(domain, proto.op_type());

  Node node(session.state, proto, *opset, location(name));
  node.outputs.resize(proto.output_size());
  for (const std::string &output : proto.output())
    node.isRead.push_back(isRead(output));
  bool unknown = false, done = false;
  session.diagnostic.clear();
  bool bound = bindInputs(node, proto, entry ? entry->minInputs : 0,
                          entry ? entry->maxInputs : anyNumber - 1, unknown);
  if (bound && !unknown)
    done = entry && succeeded(importWith(*entry, node));
  done &= !node.failed();
  for (int i = 0; done && i < proto.output_size(); ++i)
    if (node.wants(i) && !node.outputs[i]) {
      (void)node.unsupported("output " + Twine(i) + " is not supported");
      done = false;
    }
  if (done) {
    for (int i = 0; i < proto.output_size(); ++i)
      if (node.wants(i))
        define(proto.output(i), std::move(*node.outputs[i]));
    return true;
  }
  if (!entry || (unknown && dependsOnData(proto.op_type()))) {
    refuse(proto, index, refusalOf(proto.op_type()), false);
    refuseInside(proto, path + name + "/");
  } else if (node.failed()) {
    refuse(proto, index, node.getReason(), node.isInvalid(),
           node.getRemedies());
  } else if (!unknown) {
    StringRef reason(session.diagnostic);
    reason.consume_front("'");
    if (reason.consume_front("mlc."))
      reason = reason.substr(reason.find("' op ") + 5);
    refuse(proto, index, reason.empty() ? "could not be imported" : reason,
           /*isContradiction=*/!reason.empty());
  }
  defineOutputsAsDeclared(proto);
  return true;
}

bool GraphImporter::importNodes(ArrayRef<int> order) {
  for (int i : order)
    if (!importNode(graph.node(i), i))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

void GraphImporter::refuseInside(const onnx::NodeProto &proto,
                                 const std::string &prefix) {
  // The parser's limit on nesting bounds the depth.
  for (const onnx::AttributeProto &attribute : proto.attribute()) {
    if (!attribute.has_g())
      continue;
    for (int i = 0; i < attribute.g().node_size(); ++i) {
      const onnx::NodeProto &inner = attribute.g().node(i);
      std::string name =
          prefix + attribute.name() + "/" + describeNode(inner, i);
      StringRef domain =
          inner.domain() == "ai.onnx" ? "" : StringRef(inner.domain());
      if (!(domain.empty() && inner.op_type() == "If") &&
          !findOperator(domain, inner.op_type()))
        session.refuse({name,
                        inner.op_type(),
                        inner.domain(),
                        session.opsetOf(inner.domain()).value_or(0),
                        {},
                        refusalOf(inner.op_type()).str()},
                       false);
      refuseInside(inner, name + "/");
    }
  }
}

bool GraphImporter::importIf(const onnx::NodeProto &proto, int index) {
  std::string name = describeNode(proto, index);
  Node node(session.state, proto, 1, location(name));
  bool unknown = false;
  const onnx::AttributeProto *then =
      node.find("then_branch", onnx::AttributeProto::GRAPH);
  const onnx::AttributeProto *otherwise =
      node.find("else_branch", onnx::AttributeProto::GRAPH);
  if (!bindInputs(node, proto, 1, 1, unknown) || !then || !otherwise) {
    (void)node.invalid("requires a condition and two branches");
    refuse(proto, index, node.getReason(), true);
    return false;
  }
  std::optional<SmallVector<int64_t>> condition;
  if (!unknown)
    condition = node.knownIntegers(0);
  if (!condition || condition->size() != 1) {
    if (!unknown)
      refuse(proto, index,
             "its condition depends on data or open dims, and control flow is "
             "not supported",
             false);
    refuseInside(proto, path + name + "/");
    defineOutputsAsDeclared(proto);
    return true;
  }
  const onnx::GraphProto &branch =
      condition->front() ? then->g() : otherwise->g();
  auto isOuter = [&](StringRef value) { return find(value) != nullptr; };
  std::vector<int> order;
  std::optional<GraphError> error = checkGraph(branch, isOuter, order);
  if (!error &&
      (branch.input_size() != 0 || branch.output_size() < proto.output_size()))
    error =
        GraphError{"", "a branch of If must have no inputs and all outputs"};
  if (error) {
    session.damaged(path + name + "/" + error->node, error->text);
    return false;
  }
  GraphImporter inner(session, branch, this, path + name + "/");
  if (!inner.importInitializers() || !inner.importNodes(order))
    return false;
  for (int i = 0; i < proto.output_size(); ++i)
    if (!proto.output(i).empty())
      if (Tensor *result = inner.find(branch.output(i).name()))
        define(proto.output(i), *result);
  return true;
}

} // namespace mlc
