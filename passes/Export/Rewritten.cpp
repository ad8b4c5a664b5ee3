//===- Rewritten.cpp - The file of a rewritten model ----------------------===//

#include "passes/Export/Rewritten.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Export/Export.h"
#include "passes/Import/ForExport.h"
#include "passes/Import/GraphEquality.h"
#include "passes/Import/TensorData.h"
#include "passes/Optimize/Prepare.h"
#include "rewrites/Trail.h"

using namespace mlir;
using namespace mlc;
using llvm::Expected;
using llvm::StringRef;

/// What the bytes say, ready for a search; null and `problem` if nothing.
static OwningOpRef<ModuleOp> readAgain(StringRef bytes, MLIRContext *context,
                                       std::string &problem) {
  ImportReport report;
  OwningOpRef<ModuleOp> module =
      importOnnxBytes(bytes, "the result", "", {}, context, report);
  if (!module) {
    problem = report.message;
    return module;
  }
  PassManager passes(context);
  addPreparePasses(passes);
  if (succeeded(passes.run(*module)))
    return module;
  problem = "it cannot be prepared";
  return {};
}

/// The trail of a search that does nothing.
static Trail trailOfNothing(func::FuncOp function) {
  Trail trail;
  trail.function = function.getName().str();
  llvm::DenseMap<Value, TermId> terms;
  auto add = [&](Value value) { terms.try_emplace(value, terms.size()); };
  Block &body = function.getBody().front();
  llvm::for_each(body.getArguments(), add);
  for (Operation &op : body.without_terminator()) {
    ChosenOperator chosen{static_cast<TermId>(terms.size()), {}};
    for (Value operand : op.getOperands())
      chosen.operands.push_back(terms.lookup(operand));
    trail.chosen.push_back(std::move(chosen));
    llvm::for_each(op.getResults(), add);
  }
  for (Value output : body.getTerminator()->getOperands())
    trail.outputs.push_back(terms.lookup(output));
  return trail;
}

static void setTrail(onnx::ModelProto &model, StringRef text) {
  auto *entries = model.mutable_metadata_props();
  for (int i = entries->size(); i-- > 0;)
    if (entries->Get(i).key() == "mlc.trail")
      entries->DeleteSubrange(i, 1);
  onnx::StringStringEntryProto *entry = model.add_metadata_props();
  entry->set_key("mlc.trail");
  entry->set_value(text.str());
}

/// Writes dims that `type` fixes over open ones; whether there were any.
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

/// The result holds for the dims alone that were fixed, and says so.
static void closeDims(onnx::GraphProto &graph, func::FuncOp main) {
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
  // What is said of inner tensors may have the open ones.
  graph.clear_value_info();
}

/// The model as it came; its trail is the module's if that has no steps.
static Expected<std::string> copyOf(ModuleOp module, ModelFile &original,
                                    bool isRewritten) {
  onnx::ModelProto model = original.proto();
  if (llvm::Error error = embedData(*model.mutable_graph(), original))
    return std::move(error);
  closeDims(*model.mutable_graph(), module.lookupSymbol<func::FuncOp>("main"));
  std::string bytes;
  auto trail = module->getAttrOfType<StringAttr>("mlc.trail");
  if (trail && !isRewritten) {
    setTrail(model, trail);
  } else if (trail) {
    std::string problem;
    OwningOpRef<ModuleOp> same;
    if (model.SerializeToString(&bytes))
      same = readAgain(bytes, module.getContext(), problem);
    if (!same)
      return llvm::createStringError("cannot be read again: " + problem);
    setTrails(*same,
              {trailOfNothing(same->lookupSymbol<func::FuncOp>("main"))});
    setTrail(model, (*same)->getAttrOfType<StringAttr>("mlc.trail"));
  }
  if (!model.SerializeToString(&bytes))
    return llvm::createStringError(
        "the model has more than 2 GB, which an ONNX file cannot hold");
  return bytes;
}

/// Why rewrites cannot be written; otherwise `bytes` have them.
static std::string writeRewritten(ModuleOp module, std::string &bytes) {
  if (auto assumptions = assumptionsOf(module); !assumptions.empty())
    return "open dims decide what it means (" + assumptions.front() +
           "), and other runtimes do not check them; fix them with --dim "
           "NAME=N";
  Expected<std::string> made = exportOnnx(module);
  if (!made)
    return llvm::toString(made.takeError());
  std::string problem;
  OwningOpRef<ModuleOp> read = readAgain(*made, module.getContext(), problem);
  if (!read)
    return problem;
  if (auto difference = graphDifference(module, *read))
    return *difference;
  bytes = std::move(*made);
  return "";
}

Expected<RewrittenFile> mlc::exportRewritten(ModuleOp module,
                                             ModelFile &original) {
  Expected<std::vector<Trail>> trails = getTrails(module);
  if (!trails)
    return trails.takeError();
  bool isRewritten = llvm::any_of(
      *trails, [](const Trail &trail) { return !trail.steps.empty(); });
  RewrittenFile file;
  if (isRewritten) {
    file.whyUnchanged = writeRewritten(module, file.bytes);
    if (file.whyUnchanged.empty())
      return file;
  }
  Expected<std::string> bytes = copyOf(module, original, isRewritten);
  if (!bytes)
    return bytes.takeError();
  file.bytes = std::move(*bytes);
  return file;
}
