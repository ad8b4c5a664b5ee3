//===- InspectCommand.cpp - mlc inspect -----------------------------------===//
//
// Prints the contents of an artifact. Opens it without loading its code, so
// that artifacts for other CPUs work too.
//
//===----------------------------------------------------------------------===//

#include "runtime/Text.h"
#include "runtime/mlc_pipeline.h"
#include "runtime/train/StepSchedule.h"
#include "simulator/cluster/ClusterFile.h"
#include "tools/mlc/ClusterFiles.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Explain.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Kernels.h"
#include "tools/mlc/Memory.h"
#include "tools/mlc/Model.h"
#include "tools/mlc/ModelOptions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc;
using namespace mlc::cli;
using mlc::runtime::printable;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

class InspectCommand : public Command {
public:
  InspectCommand()
      : Command("inspect", "Show what is in an artifact: inputs and outputs, "
                           "memory, kernels, applied rewrites; or a cluster, "
                           "and what all-reduces take on it"),
        file(cl::Positional,
             cl::desc("<model.mlca, cluster.json or cluster:name>"),
             cl::sub(sub)),
        dims("dim", cl::value_desc("name=N"),
             cl::desc("Size of an open dim, to plan memory for"), cl::sub(sub)),
        extract("extract", cl::value_desc("folder"),
                cl::desc("Write source, PTX and machine code of the kernels "
                         "for GPUs there"),
                cl::sub(sub)),
        bytes("bytes", cl::init(64 << 20), cl::value_desc("number"),
              cl::desc("Of a cluster's all-reduces (67108864)"), cl::sub(sub)),
        ranks("ranks", cl::init(0), cl::value_desc("number"),
              cl::desc("Of a cluster's all-reduces, its first ones (several "
                       "numbers)"),
              cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Error inspectCluster() const;
  struct Contents {
    json::Value manifest;
    json::Array steps, images;
    std::vector<mlc_port> states;
    std::vector<Model> entries;
    MemoryPlan memory;
    uint64_t weights, code;
  };
  llvm::Expected<Contents> read(const Model &model, json::Value manifest,
                                llvm::ArrayRef<DimSetting> sizes) const;
  llvm::Error printJson(const Model &model, Contents found) const;
  llvm::Error printText(const Model &model, const Contents &found) const;

  cl::opt<std::string> file;
  cl::list<std::string> dims;
  cl::opt<std::string> extract;
  cl::opt<int64_t> bytes;
  cl::opt<int> ranks;
  cl::opt<bool> asJson;
};

/// How a port's dims are split over ranks: pairs of a dim and an axis, or
/// several axes as in --shard, "data+fsdp".
std::vector<std::pair<size_t, std::string>> splits(const Model &model, int kind,
                                                   size_t index) {
  const mlc_split *all = nullptr;
  size_t count = 0;
  std::vector<std::pair<size_t, std::string>> found;
  if (mlc_artifact_splits(model.get(), kind, index, &all, &count))
    return found;
  for (const mlc_split &split : llvm::ArrayRef(all, count)) {
    mlc_axis axis;
    if (mlc_artifact_axis(model.get(), split.axis, &axis))
      continue;
    auto known = llvm::find_if(
        found, [&](const auto &one) { return one.first == split.dim; });
    if (known == found.end())
      found.emplace_back(split.dim, axis.name);
    else
      known->second += std::string("+") + axis.name;
  }
  return found;
}

json::Array ports(const Model &model, int kind,
                  llvm::ArrayRef<mlc_port> ports) {
  json::Array array;
  for (auto [index, port] : llvm::enumerate(ports)) {
    json::Array dims;
    for (size_t i = 0; i < port.rank; ++i) {
      if (port.dims[i] >= 0)
        dims.push_back(port.dims[i]);
      else
        dims.push_back(json::fixUTF8(port.dim_texts[i]));
    }
    json::Object object{{"name", json::fixUTF8(port.name)},
                        {"type", mlc_dtype_name(port.type)},
                        {"dims", std::move(dims)}};
    json::Object split;
    for (auto &[dim, axis] : splits(model, kind, index))
      split[std::to_string(dim)] = json::fixUTF8(axis);
    if (!split.empty())
      object["split"] = std::move(split);
    array.push_back(std::move(object));
  }
  return array;
}

/// Name and size of each axis of the mesh of ranks.
std::vector<std::pair<std::string, int64_t>> axes(const Model &model) {
  std::vector<std::pair<std::string, int64_t>> all;
  for (size_t i = 0, n = mlc_artifact_axis_count(model.get()); i < n; ++i) {
    mlc_axis axis;
    if (!mlc_artifact_axis(model.get(), i, &axis))
      all.emplace_back(axis.name, int64_t(axis.ranks));
  }
  return all;
}

llvm::Expected<std::vector<mlc_port>> states(const Model &model) {
  std::vector<mlc_port> ports(mlc_artifact_state_count(model.get()));
  for (auto [i, port] : llvm::enumerate(ports))
    if (mlc_status status = mlc_artifact_state(model.get(), i, &port))
      return runtimeFailure(model.name(), status);
  return ports;
}

/// The entries of an artifact that has several, the first among them.
llvm::Expected<std::vector<Model>> entries(const Model &model) {
  std::vector<Model> all;
  size_t count = mlc_artifact_entry_count(model.get());
  for (size_t i = 0; count > 1 && i < count; ++i) {
    auto entry = model.entry(mlc_artifact_entry_name(model.get(), i));
    if (!entry)
      return entry.takeError();
    all.push_back(std::move(*entry));
  }
  return all;
}

llvm::StringRef nameOf(const Model &entry) {
  return mlc_artifact_entry_name(entry.get(),
                                 mlc_artifact_entry_index(entry.get()));
}

llvm::Expected<json::Array> steps(const Model &model) {
  json::Array array;
  for (size_t i = 0, n = mlc_artifact_step_count(model.get()); i < n; ++i) {
    mlc_step step;
    if (mlc_status status = mlc_artifact_step(model.get(), i, &step))
      return runtimeFailure(model.name(), status);
    json::Array nodes;
    for (size_t k = 0; k < step.node_count; ++k)
      nodes.push_back(json::fixUTF8(step.nodes[k]));
    array.push_back(json::Object{{"name", json::fixUTF8(step.name)},
                                 {"kind", step.kind},
                                 {"text", json::fixUTF8(step.text)},
                                 {"nodes", std::move(nodes)}});
  }
  return array;
}

llvm::Expected<json::Array> images(const Model &model) {
  json::Array array;
  for (size_t i = 0, n = mlc_artifact_image_count(model.get()); i < n; ++i) {
    mlc_image image;
    if (mlc_status status = mlc_artifact_image(model.get(), i, &image))
      return runtimeFailure(model.name(), status);
    array.push_back(json::Object{{"kind", image.kind},
                                 {"target", json::fixUTF8(image.target)},
                                 {"bytes", image.bytes}});
  }
  return array;
}

llvm::Expected<json::Array> describe(llvm::ArrayRef<Model> entries) {
  json::Array array;
  for (const Model &entry : entries) {
    auto all = steps(entry);
    if (!all)
      return all.takeError();
    array.push_back(
        json::Object{{"name", json::fixUTF8(nameOf(entry))},
                     {"inputs", ports(entry, MLC_INPUT, entry.inputs())},
                     {"outputs", ports(entry, MLC_OUTPUT, entry.outputs())},
                     {"steps", std::move(*all)}});
  }
  return array;
}

std::string megabytes(uint64_t bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f MB", bytes / 1048576.0);
  return text;
}

void printPorts(llvm::StringRef title, const Model &model, int kind,
                llvm::ArrayRef<mlc_port> ports) {
  llvm::outs() << title << ":\n";
  for (auto [index, port] : llvm::enumerate(ports)) {
    llvm::outs() << "  " << printable(port.name) << "  "
                 << printable(typeText(port));
    const char *separator = ", split: ";
    for (auto &[dim, axis] : splits(model, kind, index)) {
      llvm::outs() << separator << "dim " << dim << " over " << printable(axis);
      separator = ", ";
    }
    llvm::outs() << '\n';
  }
}

void printSteps(const json::Array &steps) {
  llvm::outs() << "steps (" << steps.size() << "):\n";
  for (const json::Value &value : steps) {
    const json::Object &step = *value.getAsObject();
    llvm::outs() << "  " << step.getString("kind").value_or("") << ' '
                 << printable(step.getString("name").value_or(""));
    if (llvm::StringRef text = step.getString("text").value_or("");
        !text.empty())
      llvm::outs() << " (" << printable(text) << ')';
    const char *separator = "  ← ";
    for (const json::Value &node : *step.getArray("nodes")) {
      llvm::outs() << separator << printable(node.getAsString().value_or(""));
      separator = ", ";
    }
    llvm::outs() << '\n';
  }
}

/// Whether the artifact has the stages of a model; its inputs are the model's.
bool isPipeline(const Model &model) {
  mlc_pipeline_sizes sizes = {};
  return !mlc_artifact_pipeline(model.get(), &sizes) && sizes.stages;
}

/// Prints a schedule; of a table, each line is one.
void printSchedule(llvm::StringRef title, llvm::StringRef text) {
  llvm::outs() << title;
  const char *indent = "";
  for (llvm::StringRef line : llvm::split(text.rtrim('\n'), '\n')) {
    llvm::outs() << indent << printable(line) << '\n';
    indent = "  ";
  }
}

/// Prints entries that were not printed yet.
llvm::Error printOthers(llvm::ArrayRef<Model> entries) {
  for (const Model &entry : entries) {
    llvm::outs() << "entry " << printable(nameOf(entry)) << ":\n";
    printPorts("inputs", entry, MLC_INPUT, entry.inputs());
    printPorts("outputs", entry, MLC_OUTPUT, entry.outputs());
    auto all = steps(entry);
    if (!all)
      return all.takeError();
    printSteps(*all);
  }
  return llvm::Error::success();
}

/// "code: 0.12 MB (elf for x86-64-v3)".
void printCode(uint64_t bytes, const json::Array &images) {
  llvm::outs() << "code: " << megabytes(bytes);
  const char *separator = " (";
  for (const json::Value &value : images) {
    const json::Object &image = *value.getAsObject();
    llvm::outs() << separator << image.getString("kind").value_or("") << " for "
                 << printable(image.getString("target").value_or(""));
    separator = ", ";
  }
  llvm::outs() << (images.empty() ? "" : ")") << '\n';
}

/// Prints the steps of the manifest's trails, as `mlc optimize --explain` does.
void printTrails(llvm::ArrayRef<mlc::Trail> trails) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlc::RuleSet rules;
  // An artifact of another mlc may have been made with other rules.
  bool hasRules = succeeded(mlc::addShippedRules(rules, &context));
  for (const mlc::Trail &trail : trails)
    mlc::cli::printSteps(llvm::outs(), trail, hasRules ? &rules : nullptr);
}

void printScalars(const json::Object &manifest) {
  std::vector<const json::Object::value_type *> entries;
  for (const auto &entry : manifest)
    entries.push_back(&entry);
  llvm::sort(entries, [](const auto *a, const auto *b) {
    return llvm::StringRef(a->first) < llvm::StringRef(b->first);
  });
  for (const auto *entry : entries)
    if (entry->second.kind() != json::Value::Array &&
        entry->second.kind() != json::Value::Object)
      llvm::outs() << "  " << printable(llvm::StringRef(entry->first)) << ": "
                   << printable(llvm::formatv("{0}", entry->second).str())
                   << '\n';
}

/// What is no artifact may be a cluster of which the name does not say so.
llvm::Error alsoForClusters(llvm::Error error) {
  return llvm::handleErrors(std::move(error), [](const Failure &failure) {
    std::string text = failure.message();
    if (llvm::StringRef(text).ends_with("; make it with mlc compile"))
      text += ", or give a cluster as FILE.json or cluster:NAME";
    return fail(failure.getCode(), text);
  });
}

} // namespace

llvm::Error InspectCommand::inspectCluster() const {
  if (!dims.empty() || !extract.empty())
    return fail(Exit::Usage, "--dim and --extract are of artifacts, not of a "
                             "cluster; leave them out");
  auto cluster = openCluster(file);
  if (!cluster)
    return cluster.takeError();
  return printCluster(*cluster, bytes,
                      ranks.getNumOccurrences() ? std::optional<int>(ranks)
                                                : std::nullopt,
                      asJson);
}

llvm::Error InspectCommand::run() {
  if (file.empty())
    return fail(Exit::Usage, "inspect: no file; give an artifact (.mlca), or "
                             "a cluster (.json)");
  if (llvm::StringRef(file).ends_with(".json") ||
      simulator::isShippedCluster(file.getValue()))
    return inspectCluster();
  if (bytes.getNumOccurrences() || ranks.getNumOccurrences())
    return fail(Exit::Usage, "--bytes and --ranks are of clusters, not of an "
                             "artifact; leave them out");
  auto sizes = parseDims(dims);
  if (!sizes)
    return sizes.takeError();
  auto model = Model::open(file, MLC_OPEN_INSPECT);
  if (!model)
    return alsoForClusters(model.takeError());
  auto manifest = model->manifest();
  if (!manifest)
    return manifest.takeError();
  const json::Object *object = manifest->getAsObject();
  if (!extract.empty())
    if (llvm::Error error = extractKernels(
            *model, object ? object->getString("target").value_or("") : "",
            extract))
      return error;
  auto found = read(*model, std::move(*manifest), *sizes);
  if (!found)
    return found.takeError();
  return asJson ? printJson(*model, std::move(*found))
                : printText(*model, *found);
}

llvm::Expected<InspectCommand::Contents>
InspectCommand::read(const Model &model, json::Value manifest,
                     llvm::ArrayRef<DimSetting> sizes) const {
  auto allSteps = steps(model);
  if (!allSteps)
    return allSteps.takeError();
  auto allStates = states(model);
  if (!allStates)
    return allStates.takeError();
  auto allEntries = entries(model);
  if (!allEntries)
    return allEntries.takeError();
  auto allImages = images(model);
  if (!allImages)
    return allImages.takeError();
  auto memory = planForSizes(file, model, sizes);
  if (!memory)
    return memory.takeError();
  return Contents{std::move(manifest),
                  std::move(*allSteps),
                  std::move(*allImages),
                  std::move(*allStates),
                  std::move(*allEntries),
                  std::move(*memory),
                  mlc_artifact_weight_bytes(model.get()),
                  mlc_artifact_code_bytes(model.get())};
}

llvm::Error InspectCommand::printJson(const Model &model,
                                      Contents found) const {
  json::Object all{{"file", json::fixUTF8(file.getValue())},
                   {"manifest", std::move(found.manifest)},
                   {"inputs", ports(model, MLC_INPUT, model.inputs())},
                   {"outputs", ports(model, MLC_OUTPUT, model.outputs())},
                   {"steps", std::move(found.steps)},
                   {"weight_bytes", found.weights},
                   {"code_bytes", found.code},
                   {"images", std::move(found.images)}};
  if (!found.states.empty())
    all["states"] = ports(model, MLC_STATE, found.states);
  json::Object mesh;
  for (auto &[name, ranks] : axes(model))
    mesh[json::fixUTF8(name)] = ranks;
  if (!mesh.empty())
    all["mesh"] = std::move(mesh);
  if (!found.entries.empty()) {
    auto described = describe(found.entries);
    if (!described)
      return described.takeError();
    all["entries"] = std::move(*described);
  }
  if (std::string text = runtime::train::scheduleText(*model.get());
      !text.empty())
    all["schedule"] = json::fixUTF8(text);
  if (found.memory.figures) {
    all["arena_bytes"] = found.memory.figures->arena;
    all["arena_lower_bound_bytes"] = found.memory.figures->lowerBound;
  }
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(all))) << '\n';
  return llvm::Error::success();
}

llvm::Error InspectCommand::printText(const Model &model,
                                      const Contents &found) const {
  const json::Object *object = found.manifest.getAsObject();
  llvm::outs() << printable(file.getValue()) << '\n';
  if (object)
    printScalars(*object);
  const char *separator = "ranks: ";
  for (auto &[name, ranks] : axes(model)) {
    llvm::outs() << separator << ranks << " along " << printable(name);
    separator = ", ";
  }
  if (mlc_artifact_axis_count(model.get()))
    llvm::outs() << '\n';
  if (std::string text = runtime::train::scheduleText(*model.get());
      !text.empty())
    printSchedule(isPipeline(model) ? "pipeline: " : "each step: ", text);
  if (!found.entries.empty() && !isPipeline(model))
    llvm::outs() << "entry " << printable(nameOf(model)) << ":\n";
  printPorts("inputs", model, MLC_INPUT, model.inputs());
  printPorts("outputs", model, MLC_OUTPUT, model.outputs());
  if (!found.states.empty())
    printPorts("states", model, MLC_STATE, found.states);
  llvm::outs() << "weights: " << megabytes(found.weights) << '\n';
  printCode(found.code, found.images);
  // Of a pipeline each stage has its own.
  if (isPipeline(model))
    return printOthers(found.entries);
  if (const auto &figures = found.memory.figures)
    llvm::outs() << "arena: " << megabytes(figures->arena) << ", lower bound "
                 << megabytes(figures->lowerBound) << '\n';
  else
    llvm::outs() << "arena: " << found.memory.reason << '\n';
  printSteps(found.steps);
  if (!found.entries.empty())
    if (llvm::Error error =
            printOthers(llvm::ArrayRef(found.entries).drop_front()))
      return error;
  if (object)
    printKernels(*object, found.steps);
  if (const json::Value *value = object ? object->get("trail") : nullptr) {
    // The manifest of an untrusted artifact may have any content.
    auto trails = mlc::parseTrails(llvm::formatv("{0}", *value).str());
    if (trails)
      printTrails(*trails);
    else
      llvm::consumeError(trails.takeError());
  }
  return llvm::Error::success();
}

std::unique_ptr<Command> mlc::cli::makeInspectCommand() {
  return std::make_unique<InspectCommand>();
}
