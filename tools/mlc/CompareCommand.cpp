//===- CompareCommand.cpp - mlc compare -----------------------------------===//

#include "runtime/Text.h"
#include "tools/mlc/Build.h"
#include "tools/mlc/Command.h"
#include "tools/mlc/Difference.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/Reference.h"
#include "tools/mlc/Session.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlc::cli;
using mlc::runtime::printable;
namespace cl = llvm::cl;
namespace json = llvm::json;

namespace {

/// One compared tensor.
struct Row {
  std::string name;
  Difference difference;
  double tolerance = 0;
  bool agrees() const {
    return difference.mismatch.empty() && difference.error <= tolerance;
  }
};

class CompareCommand : public Command {
public:
  CompareCommand()
      : Command("compare", "Compare results with ONNX Runtime, or with the "
                           "reference evaluator where it is not installed"),
        model(sub, "<model.onnx>"), checked(sub), inputs(sub), device(sub),
        threads("threads", cl::init(0), cl::value_desc("number"),
                cl::desc("Threads that run it (all cores)"), cl::sub(sub)),
        tolerance("tolerance", cl::value_desc("number"),
                  cl::desc("Largest error, relative to the output's largest "
                           "magnitude (1e-4 for float32, 1e-2 "
                           "where products are of tf32)"),
                  cl::sub(sub)),
        layers("layers",
               cl::desc("Compare layer by layer and name the first "
                        "that differs"),
               cl::sub(sub)),
        asJson("json", cl::desc("Print one JSON object"), cl::sub(sub)) {}

  llvm::Error run() override;

private:
  llvm::Expected<std::vector<Row>> compareOutputs(const Model &model,
                                                  const Session &session,
                                                  const ReferenceResults &want);
  std::optional<Row> compareLayer(const Model &model, const Session &session,
                                  const NamedTensor &layer) const;
  std::vector<Row> compareLayers(const Model &model, const Session &session,
                                 const ReferenceResults &want,
                                 llvm::ArrayRef<Row> outputRows) const;
  Row compare(llvm::StringRef name, const mlc_tensor &got,
              const HostTensor &want) const;
  void print(const ReferenceResults &want, llvm::ArrayRef<Row> layerRows,
             llvm::ArrayRef<Row> outputRows, const Row *first) const;
  void printJson(const ReferenceResults &want, llvm::ArrayRef<Row> layerRows,
                 llvm::ArrayRef<Row> outputRows, const Row *first) const;

  ModelOptions model;
  CheckedFlag checked;
  InputOptions inputs;
  DeviceOption device;
  cl::opt<unsigned> threads;
  cl::opt<double> tolerance;
  cl::opt<bool> layers, asJson;
  /// Whether the artifact computes products with tf32.
  bool isTF32 = false;
};

/// Names of the tensors that the program keeps in separate buffers.
std::vector<std::string> bufferNames(const Model &model) {
  std::vector<std::string> names;
  for (size_t i = 0, n = mlc_artifact_buffer_count(model.get()); i < n; ++i)
    if (llvm::StringRef name = mlc_artifact_buffer_name(model.get(), i);
        !name.empty())
      names.push_back(name.str());
  return names;
}

std::string describeRow(const Row &row) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const Difference &d = row.difference;
  if (!d.mismatch.empty()) {
    os << d.mismatch;
    return text;
  }
  os << llvm::format("%.2e", d.error);
  if (row.agrees() || d.at.empty())
    return text;
  os << " at [";
  llvm::interleaveComma(d.at, os);
  os << llvm::format("]: %.9g instead of %.9g", d.got, d.want);
  return text;
}

json::Array jsonRows(llvm::ArrayRef<Row> rows) {
  json::Array array;
  for (const Row &row : rows) {
    json::Object object{{"name", json::fixUTF8(row.name)},
                        {"tolerance", row.tolerance},
                        {"agrees", row.agrees()}};
    // JSON has no infinity.
    if (std::isfinite(row.difference.error))
      object["error"] = row.difference.error;
    else
      object["error"] = "inf";
    if (!row.difference.mismatch.empty())
      object["mismatch"] = row.difference.mismatch;
    array.push_back(std::move(object));
  }
  return array;
}

} // namespace

Row CompareCommand::compare(llvm::StringRef name, const mlc_tensor &got,
                            const HostTensor &want) const {
  double allowed = tolerance.getNumOccurrences()
                       ? tolerance.getValue()
                       : defaultTolerance(want.type, isTF32);
  return {name.str(), difference(got, want), allowed};
}

llvm::Expected<std::vector<Row>>
CompareCommand::compareOutputs(const Model &model, const Session &session,
                               const ReferenceResults &want) {
  if (model.outputs().size() != want.outputs.size())
    return fail(Exit::Internal,
                model.name() + ": " + llvm::Twine(model.outputs().size()) +
                    " outputs, but " + llvm::Twine(want.outputs.size()) +
                    " by " + want.by);
  std::vector<Row> rows;
  for (auto [index, output] : llvm::enumerate(want.outputs)) {
    auto got = session.output(index);
    if (!got)
      return got.takeError();
    rows.push_back(compare(output.name, *got, output.tensor));
  }
  return rows;
}

/// The closest of the buffers with the layer's name and dims: a node's
/// intermediates, and its result in mlc's own layout, have its name too.
std::optional<Row>
CompareCommand::compareLayer(const Model &model, const Session &session,
                             const NamedTensor &layer) const {
  std::optional<Row> best;
  for (size_t i = 0, n = mlc_artifact_buffer_count(model.get()); i < n; ++i) {
    mlc_tensor got;
    if (layer.name != mlc_artifact_buffer_name(model.get(), i) ||
        mlc_session_buffer(session.get(), i, &got) ||
        llvm::ArrayRef<int64_t>(got.dims, got.rank) !=
            llvm::ArrayRef<int64_t>(layer.tensor.dims))
      continue;
    Row row = compare(layer.name, got, layer.tensor);
    if (!best || row.difference.error < best->difference.error)
      best = row;
  }
  return best;
}

/// Compares layers that are kept in memory. If a layer differs but the values
/// computed from it agree, the buffer was not the layer and is omitted.
std::vector<Row>
CompareCommand::compareLayers(const Model &model, const Session &session,
                              const ReferenceResults &want,
                              llvm::ArrayRef<Row> outputRows) const {
  const size_t count = want.layers.size();
  std::vector<std::optional<Row>> found(count);
  std::vector<bool> agrees(count + outputRows.size());
  for (auto [index, row] : llvm::enumerate(outputRows))
    agrees[count + index] = row.agrees();
  for (size_t i = count; i-- > 0;) {
    bool laterAgrees = llvm::any_of(
        want.readBy[i], [&](size_t reader) { return agrees[reader]; });
    found[i] = compareLayer(model, session, want.layers[i]);
    agrees[i] = laterAgrees || (found[i] && found[i]->agrees());
    if (found[i] && !found[i]->agrees() && laterAgrees)
      found[i].reset();
  }
  std::vector<Row> rows;
  for (std::optional<Row> &row : found)
    if (row)
      rows.push_back(std::move(*row));
  return rows;
}

void CompareCommand::printJson(const ReferenceResults &want,
                               llvm::ArrayRef<Row> layerRows,
                               llvm::ArrayRef<Row> outputRows,
                               const Row *first) const {
  json::Object object{{"model", json::fixUTF8(model.model.getValue())},
                      {"reference", want.by},
                      {"outputs", jsonRows(outputRows)},
                      {"agrees", first == nullptr}};
  if (layers)
    object["layers"] = jsonRows(layerRows);
  if (first)
    object["first_differing"] = json::fixUTF8(first->name);
  llvm::outs() << llvm::formatv("{0:2}", json::Value(std::move(object)))
               << '\n';
}

void CompareCommand::print(const ReferenceResults &want,
                           llvm::ArrayRef<Row> layerRows,
                           llvm::ArrayRef<Row> outputRows,
                           const Row *first) const {
  llvm::outs() << "against " << want.by
               << ", errors relative to the largest magnitude\n";
  for (const Row &row : layerRows)
    llvm::outs() << (row.agrees() ? "  layer   " : "! layer   ")
                 << printable(row.name) << "  " << describeRow(row) << '\n';
  for (const Row &row : outputRows)
    llvm::outs() << (row.agrees() ? "  output  " : "! output  ")
                 << printable(row.name) << "  " << describeRow(row) << '\n';
  if (!first)
    llvm::outs() << "they agree\n";
}

llvm::Error CompareCommand::run() {
  if (!(tolerance >= 0))
    return fail(Exit::Usage, "--tolerance: expected a number from 0 on");
  auto sizes = parseDims(model.dims);
  if (!sizes)
    return sizes.takeError();
  // Rewrites would replace the model's tensors.
  if (layers)
    model.noRewrites = true;
  model.checked = checked.checked;
  auto built = openOrBuild(model);
  if (!built)
    return built.takeError();
  if (!built->compiled)
    return fail(Exit::Usage, model.model +
                                 ": is an artifact; give the model (.onnx) it "
                                 "was made of");
  auto manifest = built->model.manifest();
  if (!manifest)
    return manifest.takeError();
  if (const json::Object *object = manifest->getAsObject())
    isTF32 = object->getString("precision") == llvm::StringRef("tf32");
  auto feed = makeFeed(built->model, *sizes, inputs);
  if (!feed)
    return feed.takeError();
  std::vector<NamedTensor> named;
  for (auto [port, tensor] : llvm::zip(built->model.inputs(), *feed))
    named.push_back({port.name, tensor});

  auto session = Session::create(built->model, device.device, threads,
                                 layers ? MLC_SESSION_KEEP_BUFFERS : 0);
  if (!session)
    return session.takeError();
  if (llvm::Error error = session->bind(std::move(*feed)))
    return error;
  if (llvm::Error error = session->run())
    return error;
  std::vector<std::string> wanted;
  if (layers)
    wanted = bufferNames(built->model);
  auto want = runReference(model, named, wanted);
  if (!want)
    return want.takeError();

  auto outputRows = compareOutputs(built->model, *session, *want);
  if (!outputRows)
    return outputRows.takeError();
  std::vector<Row> layerRows =
      compareLayers(built->model, *session, *want, *outputRows);
  const Row *first = nullptr;
  for (const std::vector<Row> *rows : {&layerRows, &*outputRows})
    for (const Row &row : *rows)
      if (!first && !row.agrees())
        first = &row;
  (asJson ? printJson(*want, layerRows, *outputRows, first)
          : print(*want, layerRows, *outputRows, first));
  if (!first)
    return llvm::Error::success();
  return fail(Exit::Differs, model.model + ": " + printable(first->name) +
                                 ": differs from " + want->by + ": " +
                                 describeRow(*first) +
                                 (layers ? ""
                                         : "; --layers tells where it "
                                           "begins"));
}

std::unique_ptr<Command> mlc::cli::makeCompareCommand() {
  return std::make_unique<CompareCommand>();
}
