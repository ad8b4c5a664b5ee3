//===- Import.cpp - ONNX files become mlc graphs --------------------------===//

#include "passes/Import/Import.h"
#include "dialects/Graph/ModelOps.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Import/ForExport.h"
#include "passes/Import/GraphChecks.h"
#include "passes/Import/GraphImporter.h"
#include "passes/Import/Weights.h"
#include "runtime/Text.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace mlir;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace mlc {

/// The newest ONNX opset that this importer supports.
constexpr int64_t newestOpset = 28;

namespace {

class ModelImporter {
public:
  ModelImporter(ImportSession &session, const ImportOptions &options,
                bool returnsTensors, MLIRContext *context)
      : session(session), options(options), returnsTensors(returnsTensors),
        context(context), model(session.file.proto()),
        graph(session, model.graph(), nullptr, "") {
    session.state.inTraining = options.inTraining;
    session.state.checked = options.checked;
  }

  OwningOpRef<ModuleOp> run();

private:
  bool checkVersions();
  bool importInputs();
  bool importInput(const onnx::ValueInfoProto &input);
  IntExpr dimOf(const onnx::TensorShapeProto_Dimension &dim, StringRef input,
                int index);
  bool checkOptions();
  bool makeParameters();
  bool importOutputs();
  void returnTensors();
  void addChecks();
  void setModuleAttributes();
  bool finish();

  ImportSession &session;
  const ImportOptions &options;
  bool returnsTensors;
  MLIRContext *context;
  const onnx::ModelProto &model;
  GraphImporter graph;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  llvm::SetVector<StringRef> openSymbols; // the model's, in input order
  llvm::StringSet<> usedOptions;
};

bool ModelImporter::checkVersions() {
  std::optional<int64_t> opset = session.opsetOf("");
  if (opset && *opset > newestOpset) {
    session.report.status = Exit::Unsupported;
    session.report.message =
        session.fileName + ": the model uses opset " + std::to_string(*opset) +
        ", and opsets up to " + std::to_string(newestOpset) +
        " are supported; convert it with onnx.version_converter";
    return false;
  }
  if (opset && *opset < 1) {
    session.damaged("", "the model's opset version " + Twine(*opset) +
                            " does not exist");
    return false;
  }
  return true;
}

IntExpr ModelImporter::dimOf(const onnx::TensorShapeProto_Dimension &dim,
                             StringRef input, int index) {
  if (dim.has_dim_value() && dim.dim_value() > 0)
    return IntExpr::constant(context, dim.dim_value());
  // Exporters write unknown dims as nothing, 0, -1, "?" or "-1".
  std::string name = dim.dim_param();
  if (name.empty() || name == "?" || name == "-1" || name == "None")
    name = (input + "_d" + Twine(index)).str();
  StringAttr kept = StringAttr::get(context, name);
  openSymbols.insert(kept.getValue());
  for (const auto &[option, value] : llvm::reverse(options.dims)) {
    if (option != name)
      continue;
    if (value)
      return IntExpr::constant(context, *value);
    break;
  }
  return IntExpr::symbol(context, name);
}

bool ModelImporter::importInput(const onnx::ValueInfoProto &input) {
  auto refuse = [&](const Twine &reason) {
    session.refuse({input.name(), "(input)", "", 0, {}, reason.str()}, false);
    graph.define(input.name(), Tensor());
    return true;
  };
  if (!input.type().has_tensor_type())
    return refuse("only tensors are supported as inputs");
  const onnx::TypeProto_Tensor &type = input.type().tensor_type();
  Tensor tensor;
  tensor.elementType = getElementType(context, type.elem_type());
  if (!tensor.elementType)
    return refuse("elements of " + describeOnnxType(type.elem_type()) +
                  " are not supported");
  if (!type.has_shape())
    return refuse("its rank is not known; run onnx's shape inference or set "
                  "the input's shape");
  if (type.shape().dim_size() > maxRank)
    return refuse("has " + Twine(type.shape().dim_size()) +
                  " dims, and at most " + Twine(maxRank) + " are supported");
  SmallVector<int64_t> known;
  for (auto [i, dim] : llvm::enumerate(type.shape().dim())) {
    tensor.dims.push_back(dimOf(dim, input.name(), i));
    known.push_back(tensor.dims.back().asConstant().value_or(1));
  }
  if (!countElements(known)) {
    session.damaged(input.name(), "has negative or too large dims");
    return false;
  }
  unsigned index = main.getNumArguments();
  (void)main.insertArgument(
      index, getTensorType(tensor.dims, tensor.elementType),
      DictionaryAttr::get(
          context, {NamedAttribute(StringAttr::get(context, "mlc.name"),
                                   StringAttr::get(context, input.name()))}),
      graph.location(input.name()));
  tensor.value = main.getArgument(index);
  graph.define(input.name(), std::move(tensor));
  return true;
}

bool ModelImporter::importInputs() {
  // An input with an initializer has that as its default, and keeps it.
  llvm::StringSet<> initialized;
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    initialized.insert(tensor.name());
  for (const onnx::ValueInfoProto &input : model.graph().input()) {
    if (!initialized.contains(input.name())) {
      if (!importInput(input))
        return false;
    } else if (model.ir_version() >= 4 &&
               !llvm::is_contained(options.parameters, input.name())) {
      // Before IR version 4, all initializers had to be inputs, too.
      session.report.defaults.push_back(input.name());
    }
  }
  if (int64_t(openSymbols.size()) > GraphBounds::symbols) {
    session.beyond("", "has " + Twine(openSymbols.size()) +
                           " open dims, and at most " +
                           Twine(GraphBounds::symbols) +
                           " are taken; fix some in the model");
    return false;
  }
  for (StringRef symbol : openSymbols)
    session.report.symbols.push_back(symbol.str());
  return true;
}

bool ModelImporter::checkOptions() {
  for (const auto &[name, value] : options.dims) {
    bool exists = openSymbols.contains(name);
    if (exists && !(value && *value < 0))
      continue;
    session.report.status = Exit::Usage;
    std::string have;
    for (StringRef symbol : openSymbols)
      have += (have.empty() ? "" : ", ") + symbol.str();
    session.report.message =
        exists ? session.fileName + ": the dim '" + name +
                     "' must not be negative, got " + std::to_string(*value)
               : session.fileName + ": the model has no open dim '" + name +
                     "'; it has " + (have.empty() ? "none" : have);
    return false;
  }
  return true;
}

/// Makes parameters after the weights are imported and before anything reads
/// them.
bool ModelImporter::makeParameters() {
  llvm::SetVector<StringRef> names(options.parameters.begin(),
                                   options.parameters.end());
  names.insert_range(options.statistics);
  if (options.overridable)
    names.insert_range(session.report.defaults);
  for (StringRef name : names) {
    if (Value parameter = graph.makeParameter(name, main)) {
      if (llvm::is_contained(options.statistics, name))
        session.state.statistics[parameter] = parameter;
      continue;
    }
    if (!session.report.ok())
      return false;
    if (llvm::is_contained(session.report.defaults, name))
      continue;
    session.report.status = Exit::Usage;
    session.report.message =
        session.fileName + ": '" + name.str() + "' is no weight of the model" +
        (graph.find(name) ? ", but an input; inputs are given with each run"
                          : "; it has " + nameWeights(model.graph()));
    return false;
  }
  return true;
}

bool ModelImporter::importOutputs() {
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  Builder b(context);
  auto addResultName = [&](StringRef kind, Attribute name) {
    attributes.push_back(b.getDictionaryAttr(b.getNamedAttr(kind, name)));
  };
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    Tensor *tensor = graph.find(output.name());
    Value value = tensor ? graph.materialize(*tensor, output.name()) : Value();
    if (!value)
      return false;
    int32_t declared = output.type().tensor_type().elem_type();
    if (declared != 0 && declared != getOnnxType(tensor->elementType)) {
      session.damaged(output.name(),
                      "the output is declared with elements of " +
                          describeOnnxType(declared) + ", but is made with " +
                          describeOnnxType(getOnnxType(tensor->elementType)));
      return false;
    }
    values.push_back(value);
    types.push_back(value.getType());
    addResultName("mlc.name", b.getStringAttr(output.name()));
  }
  OpBuilder &builder = session.state.builder;
  for (auto [parameter, now] : session.state.statistics) {
    unsigned i = cast<BlockArgument>(parameter).getArgNumber();
    values.push_back(now);
    types.push_back(now.getType());
    addResultName(kUpdatesAttr, main.getArgAttr(i, "mlc.name"));
  }
  for (const IndexCheck &check : session.state.indexChecks) {
    values.push_back(check.value);
    types.push_back(check.value.getType());
    attributes.push_back(attributesOf(check, context));
  }
  func::ReturnOp::create(builder, main.getLoc(), values);
  main.setType(FunctionType::get(context, main.getArgumentTypes(), types));
  for (auto [i, attribute] : llvm::enumerate(attributes))
    main.setResultAttrs(i, attribute);
  return true;
}

void ModelImporter::addChecks() {
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  for (const auto &[sides, message] : session.state.checks)
    CheckOp::create(b, module->getLoc(), sides.first, ComparePredicate::EQ,
                    sides.second, message);
}

void ModelImporter::setModuleAttributes() {
  Builder b(context);
  SmallVector<Attribute> symbols;
  for (StringRef symbol : openSymbols) {
    bool fixed = false;
    for (const auto &[name, value] : options.dims)
      if (name == symbol)
        fixed = value.has_value();
    if (!fixed)
      symbols.push_back(b.getStringAttr(symbol));
  }
  // Sorted by name, the last of equal names; texts become JSON, which is UTF-8.
  std::map<std::string, Attribute> metadata, opsets;
  auto text = [&](StringRef bytes) {
    return b.getStringAttr(llvm::json::fixUTF8(bytes));
  };
  auto dictionary = [&](const std::map<std::string, Attribute> &entries) {
    SmallVector<NamedAttribute> list;
    for (const auto &[name, value] : entries)
      list.emplace_back(StringAttr::get(context, name), value);
    return DictionaryAttr::get(context, list);
  };
  if (DictionaryAttr indices = listIndexInputs(session.state, main))
    (*module)->setAttr("mlc.indices", indices);
  NamedAttrList onnx;
  for (const onnx::StringStringEntryProto &entry : model.metadata_props())
    if (!entry.key().empty())
      metadata[llvm::json::fixUTF8(entry.key())] = text(entry.value());
  for (const onnx::OperatorSetIdProto &entry : model.opset_import())
    opsets[entry.domain().empty() ? "ai.onnx"
                                  : llvm::json::fixUTF8(entry.domain())] =
        b.getI64IntegerAttr(entry.version());
  onnx.set("graph", text(model.graph().name()));
  onnx.set("ir_version", b.getI64IntegerAttr(model.ir_version()));
  onnx.set("opsets", dictionary(opsets));
  onnx.set("producer_name", text(model.producer_name()));
  onnx.set("producer_version", text(model.producer_version()));
  // The header for an exporter; the compiler does not read it.
  NamedAttrList header;
  header.set("doc_string", text(model.doc_string()));
  header.set("domain", text(model.domain()));
  header.set("graph_doc_string", text(model.graph().doc_string()));
  header.set("model_version", b.getI64IntegerAttr(model.model_version()));
  (*module)->setAttr("mlc.header", header.getDictionary(context));
  (*module)->setAttr("mlc.symbols", b.getArrayAttr(symbols));
  (*module)->setAttr("mlc.metadata", dictionary(metadata));
  (*module)->setAttr("mlc.onnx", onnx.getDictionary(context));
}

/// Adds every tensor with a value to the results, which then show how passes
/// change an operator.
void ModelImporter::returnTensors() {
  Block &body = main.getBody().front();
  llvm::DenseSet<Value> live(body.args_begin(), body.args_end());
  for (Operation &op : body)
    live.insert(op.result_begin(), op.result_end());
  SmallVector<Value> values(body.getTerminator()->getOperands());
  SmallVector<StringRef> returned;
  auto add = [&](const std::string &name) {
    Tensor *tensor = name.empty() ? nullptr : graph.find(name);
    if (!tensor || !tensor->value)
      return;
    // Operators that nothing reads were erased, and must not be touched.
    if (!live.contains(tensor->value))
      return;
    values.push_back(tensor->value);
    returned.push_back(name);
  };
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    add(tensor.name());
  for (const onnx::NodeProto &node : model.graph().node())
    for (const std::string &output : node.output())
      add(output);
  SmallVector<DictionaryAttr> attributes;
  Builder b(context);
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    attributes.push_back(main.getResultAttrDict(i));
  for (StringRef name : returned)
    attributes.push_back(b.getDictionaryAttr(
        b.getNamedAttr("mlc.tensor", b.getStringAttr(name))));
  main.setAllResultAttrs(SmallVector<DictionaryAttr>(
      main.getNumResults(), DictionaryAttr::get(context)));
  body.getTerminator()->setOperands(values);
  main.setType(FunctionType::get(context, main.getArgumentTypes(),
                                 body.getTerminator()->getOperandTypes()));
  main.setAllResultAttrs(attributes);
}

/// Removes what nothing reads, mostly constants of folded shape arithmetic, and
/// verifies the result: an error here is the importer's.
bool ModelImporter::finish() {
  Block &body = main.getBody().front();
  SmallVector<Operation *> operators;
  for (Operation &op : body.without_terminator())
    operators.push_back(&op);
  for (Operation *op : llvm::reverse(operators))
    if (isOpTriviallyDead(op))
      op->erase();
  if (returnsTensors)
    returnTensors();
  addChecks();
  setModuleAttributes();
  if (succeeded(verify(*module)))
    return true;
  session.damaged("", "the imported graph is not well formed: " +
                          session.diagnostic);
  return false;
}

OwningOpRef<ModuleOp> ModelImporter::run() {
  if (!checkVersions())
    return {};
  if (auto error = checkBounds(model.graph())) {
    session.beyond(error->node, error->text);
    return {};
  }
  std::vector<int> order;
  if (auto error =
          checkGraph(model.graph(), [](StringRef) { return false; }, order)) {
    session.damaged(error->node, error->text);
    return {};
  }
  OpBuilder &builder = session.state.builder;
  Location loc = graph.location(model.graph().name());
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(builder, loc, "main",
                              builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  if (!importInputs() || !checkOptions() || !graph.importInitializers() ||
      !makeParameters() || !graph.importNodes(order) || !session.report.ok() ||
      !importOutputs() || !finish())
    return {};
  return std::move(module);
}

} // namespace

static OwningOpRef<ModuleOp>
importAs(ModelFile &file, StringRef name, const ImportOptions &options,
         MLIRContext *context, ImportReport &report, bool returnsTensors) {
  report = {};
  context->loadDialect<MlcDialect, func::FuncDialect>();
  report.hash = file.getHash();
  OwningOpRef<ModuleOp> module;
  {
    ImportSession session(context, file, report, name);
    module = ModelImporter(session, options, returnsTensors, context).run();
    if (!module && report.ok())
      session.damaged("", "an output of the model could not be made");
  }
  dropDimRemedies(report, [&](StringRef symbol) {
    return llvm::any_of(options.dims, [&](const auto &dim) {
      const auto &[name, size] = dim;
      return name == symbol && size;
    });
  });
  // One line, even if names have line breaks.
  report.message = runtime::printable(report.message);
  report.externalFiles = file.getExternalFiles();
  if (report.status == Exit::Unsupported && report.message.empty())
    report.message = countUnsupported(name, report);
  return report.ok() ? std::move(module) : OwningOpRef<ModuleOp>();
}

OwningOpRef<ModuleOp> importFile(ModelFile &file, StringRef name,
                                 const ImportOptions &options,
                                 MLIRContext *context, ImportReport &report,
                                 bool returnsTensors) {
  OwningOpRef<ModuleOp> module =
      importAs(file, name, options, context, report, returnsTensors);
  report.overridable = options.overridable;
  if (!options.overridable || report.defaults.empty() ||
      report.status != Exit::Unsupported)
    return module;
  // The import must know an input's default.
  ImportOptions constant = options;
  constant.overridable = false;
  return importAs(file, name, constant, context, report, returnsTensors);
}

static OwningOpRef<ModuleOp>
importRead(llvm::Expected<ModelFile> read, StringRef name,
           const ImportOptions &options, MLIRContext *context,
           ImportReport &report, std::shared_ptr<ModelFile> &file) {
  report = {};
  if (!read) {
    reportError(report, name, read.takeError());
    return {};
  }
  file = std::make_shared<ModelFile>(std::move(*read));
  return importFile(*file, name, options, context, report);
}

OwningOpRef<ModuleOp> importOnnx(StringRef path, const ImportOptions &options,
                                 MLIRContext *context, ImportReport &report,
                                 std::shared_ptr<ModelFile> &file) {
  return importRead(ModelFile::open(path), path, options, context, report,
                    file);
}

OwningOpRef<ModuleOp> importOnnx(StringRef path, const ImportOptions &options,
                                 MLIRContext *context, ImportReport &report) {
  std::shared_ptr<ModelFile> file;
  return importOnnx(path, options, context, report, file);
}

OwningOpRef<ModuleOp> importOnnxBytes(StringRef bytes, StringRef name,
                                      StringRef folder,
                                      const ImportOptions &options,
                                      MLIRContext *context,
                                      ImportReport &report) {
  std::shared_ptr<ModelFile> file;
  return importRead(ModelFile::parse(bytes, folder), name, options, context,
                    report, file);
}

ImportReport checkModel(StringRef path, const ImportOptions &options,
                        MLIRContext *context) {
  ImportReport report;
  importOnnx(path, options, context, report);
  return report;
}

} // namespace mlc
