//===- Rewritten.cpp - The file of a rewritten model ----------------------===//

#include "passes/Export/Rewritten.h"
#include "dialects/Module/CompileTime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Export/Exporter.h"
#include "passes/Export/Original.h"
#include "passes/Import/ForExport.h"
#include "passes/Import/GraphEquality.h"
#include "passes/Optimize/ConstantFold.h"
#include "passes/Optimize/Prepare.h"
#include "rewrites/ProofLog/Trail.h"

using namespace mlir;
using namespace mlc;
using llvm::Expected;
using llvm::StringRef;

/// Imports the bytes and prepares them for a search; null, with `problem`, on
/// failure.
static OwningOpRef<ModuleOp> readAgain(StringRef bytes,
                                       const ImportOptions &options,
                                       MLIRContext *context,
                                       std::string &problem) {
  ImportReport report;
  OwningOpRef<ModuleOp> module =
      importOnnxBytes(bytes, "the result", "", options, context, report);
  if (!module) {
    problem = report.message;
    return module;
  }
  PassManager passes(context);
  addPreparePasses(passes);
  if (succeeded(passes.run(*module))) {
    foldConstantsFully(module->lookupSymbol<func::FuncOp>("main"));
    return module;
  }
  problem = "it cannot be prepared";
  return {};
}

/// The names of the parameters of `main`.
static std::vector<std::string> parametersOf(func::FuncOp main) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (main.getArgAttr(i, kParameterAttr))
      if (auto name = main.getArgAttrOfType<StringAttr>(i, "mlc.name"))
        names.push_back(name.str());
  return names;
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

/// The model as it came, with this trail, if any.
static Expected<std::string> copyOf(ModuleOp module, ModelFile &file,
                                    StringRef trail) {
  onnx::ModelProto model = file.proto();
  if (llvm::Error error = embedData(*model.mutable_graph(), file))
    return std::move(error);
  closeDims(*model.mutable_graph(), module.lookupSymbol<func::FuncOp>("main"));
  if (!trail.empty())
    setTrail(model, trail);
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    return llvm::createStringError(
        "the model has more than 2 GB, which an ONNX file cannot hold");
  return bytes;
}

/// The first difference between the imported bytes and the module.
static std::optional<std::string> differenceOf(ModuleOp module,
                                               StringRef bytes) {
  std::string problem;
  ImportOptions options; // fixed dims are fixed in the bytes
  options.parameters = parametersOf(module.lookupSymbol<func::FuncOp>("main"));
  OwningOpRef<ModuleOp> read =
      readAgain(bytes, options, module.getContext(), problem);
  return read ? graphDifference(module, *read) : problem;
}

/// Writes the rewritten model to `bytes`, or returns why it cannot.
static std::string writeRewritten(ModuleOp module,
                                  const OriginalModel &original,
                                  const Trail &trail, std::string &bytes) {
  if (auto assumptions = assumptionsOf(module); !assumptions.empty())
    return "open dims decide what it means (" + assumptions.front() +
           "), and other runtimes do not check them; fix their sizes";
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!WriteBack::tag(main, trail))
    return "the trail is of another graph";
  foldConstantsFully(main);
  using Keeps = WriteBack::Keeps;
  const WriteBack ways[] = {{original, main, Keeps::Nodes},
                            {original, main, Keeps::Opset},
                            {original, main, Keeps::Nothing}};
  WriteBack::untag(main);
  std::string reason;
  for (const WriteBack &way : ways) {
    Expected<std::string> made = Exporter(module, &way).run();
    std::optional<std::string> difference =
        made ? differenceOf(module, *made) : llvm::toString(made.takeError());
    if (!difference) {
      bytes = std::move(*made);
      return "";
    }
    reason += (reason.empty() ? "" : "; ") + *difference;
  }
  return reason;
}

Expected<RewrittenFile> mlc::exportRewritten(ModuleOp module,
                                             ModelFile &original,
                                             const ImportOptions &options) {
  Expected<std::vector<Trail>> trails = getTrails(module);
  if (!trails)
    return trails.takeError();
  RewrittenFile file;
  std::string trail;
  if (auto text = module->getAttrOfType<StringAttr>("mlc.trail"))
    trail = text.str();
  // A model has one function.
  if (trails->size() == 1 && !trails->front().steps.empty()) {
    Expected<OriginalModel> read =
        OriginalModel::read(original, options, module.getContext());
    if (!read)
      return read.takeError();
    file.whyUnchanged =
        writeRewritten(module, *read, trails->front(), file.bytes);
    if (file.whyUnchanged.empty())
      return file;
    trail.clear();
    llvm::raw_string_ostream(trail) << toJson(read->getIdentity());
  }
  Expected<std::string> bytes = copyOf(module, original, trail);
  if (!bytes)
    return bytes.takeError();
  file.bytes = std::move(*bytes);
  return file;
}
