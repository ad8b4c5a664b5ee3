//===- Reference.cpp - Results of ONNX Runtime or the evaluator -----------===//

#include "tools/mlc/Reference.h"
#include "codegen/target/Json.h"
#include "runtime/Npy.h"
#include "tools/mlc/Failure.h"
#include "tools/mlc/OnnxRuntimeScript.h"
#include "tools/mlc/OutputFile.h"
#include "tools/mlc/TemporaryFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace mlc::cli;
namespace json = llvm::json;
namespace path = llvm::sys::path;

/// Whether the Python at `python` has ONNX Runtime.
static bool hasOnnxRuntime(llvm::StringRef python) {
  std::optional<llvm::StringRef> nowhere[] = {
      llvm::StringRef(), llvm::StringRef(), llvm::StringRef()};
  return llvm::sys::ExecuteAndWait(
             python, {python, "-c", "import onnxruntime, onnx, numpy"},
             std::nullopt, nowhere) == 0;
}

/// The first Python with ONNX Runtime, empty if there is none.
static std::string findPython() {
  std::vector<std::string> candidates;
  if (const char *given = std::getenv("MLC_PYTHON"))
    return hasOnnxRuntime(given) ? given : "";
  candidates.push_back(".venv/bin/python");
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  for (llvm::StringRef folder = path::parent_path(self); !folder.empty();
       folder = path::parent_path(folder)) {
    llvm::SmallString<128> candidate(folder);
    path::append(candidate, ".venv", "bin", "python");
    candidates.push_back(candidate.str().str());
  }
  if (auto python = llvm::sys::findProgramByName("python3"))
    candidates.push_back(*python);
  for (const std::string &candidate : candidates)
    if (llvm::sys::fs::can_execute(candidate) && hasOnnxRuntime(candidate))
      return candidate;
  return {};
}

static llvm::Error writeTensor(llvm::StringRef file, const HostTensor &tensor) {
  return writeOutput(file, [&](llvm::raw_ostream &os) {
    os << mlc::runtime::npyHeader(static_cast<mlc::runtime::DType>(tensor.type),
                                  tensor.dims);
    os.write(tensor.data.get(), tensor.bytes);
    return llvm::Error::success();
  });
}

static llvm::Error writeRequest(const TemporaryFolder &folder,
                                llvm::ArrayRef<NamedTensor> inputs,
                                llvm::ArrayRef<std::string> layers) {
  json::Array names;
  for (auto [index, input] : llvm::enumerate(inputs)) {
    names.push_back(input.name);
    std::string file = folder / llvm::formatv("in{0}.npy", index).str();
    if (llvm::Error error = writeTensor(file, input.tensor))
      return error;
  }
  json::Object request{{"inputs", std::move(names)},
                       {"layers", json::Array(layers)}};
  return writeOutput(folder / "request.json", [&](llvm::raw_ostream &os) {
    os << json::Value(std::move(request));
    return llvm::Error::success();
  });
}

/// Reads the arrays <kind><i>.npy, with the names in the reply.
static llvm::Expected<std::vector<NamedTensor>>
readArrays(const TemporaryFolder &folder, llvm::StringRef kind,
           const json::Array &names) {
  std::vector<NamedTensor> arrays;
  for (auto [index, name] : llvm::enumerate(names)) {
    std::string file = folder / llvm::formatv("{0}{1}.npy", kind, index).str();
    auto tensor = readTensor(file);
    if (!tensor)
      return tensor.takeError();
    arrays.push_back(
        {name.getAsString().value_or("").str(), std::move(*tensor)});
  }
  return arrays;
}

static llvm::Expected<ReferenceResults> readReply(const TemporaryFolder &folder,
                                                  bool isPlain) {
  auto text = llvm::MemoryBuffer::getFile(folder / "reply.json");
  if (!text)
    return fail(Exit::Internal, "ONNX Runtime left no results; try again");
  auto reply = mlc::parseJson((*text)->getBuffer());
  if (!reply)
    return reply.takeError();
  const json::Object &object = *reply->getAsObject();
  auto outputs = readArrays(folder, "out", *object.getArray("outputs"));
  if (!outputs)
    return outputs.takeError();
  auto layers = readArrays(folder, "layer", *object.getArray("layers"));
  if (!layers)
    return layers.takeError();

  ReferenceResults results;
  results.by = "ONNX Runtime " +
               object.getString("version").value_or("").str() +
               (isPlain ? " without its optimizations" : "");
  results.outputs = std::move(*outputs);
  results.layers = std::move(*layers);
  for (const json::Value &list : *object.getArray("read_by")) {
    std::vector<size_t> &readers = results.readBy.emplace_back();
    for (const json::Value &reader : *list.getAsArray())
      readers.push_back(reader.getAsUINT64().value_or(0));
  }
  return results;
}

/// The last line that the script printed: the exception's text.
static std::string lastLine(llvm::StringRef file) {
  auto text = llvm::MemoryBuffer::getFile(file);
  if (!text)
    return "no message";
  llvm::StringRef lines = (*text)->getBuffer().rtrim();
  if (lines.empty())
    return "it has crashed";
  return lines.rsplit('\n').second.empty() ? lines.str()
                                           : lines.rsplit('\n').second.str();
}

llvm::Expected<std::optional<ReferenceResults>>
mlc::cli::runOnnxRuntime(llvm::StringRef model,
                         llvm::ArrayRef<NamedTensor> inputs,
                         llvm::ArrayRef<std::string> layers) {
  std::string python = findPython();
  if (python.empty())
    return std::nullopt;
  auto folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  if (llvm::Error error = writeRequest(*folder, inputs, layers))
    return std::move(error);
  std::string messages = *folder / "messages";
  std::optional<llvm::StringRef> streams[] = {
      llvm::StringRef(), llvm::StringRef(messages), llvm::StringRef(messages)};
  auto run = [&](llvm::StringRef how) {
    return llvm::sys::ExecuteAndWait(
               python,
               {python, "-c", onnxRuntimeScript, model, folder->path(), how},
               std::nullopt, streams) == 0;
  };
  bool isPlain = false;
  if (!run("")) {
    // Its optimizer may fail or end the process although the model itself runs.
    std::string failure = lastLine(messages);
    isPlain = run("plain");
    if (!isPlain)
      return fail(Exit::BadFile, model + ": ONNX Runtime cannot run it: " +
                                     lastLine(messages) +
                                     "; give other sizes or inputs");
    warn(model, "ONNX Runtime fails on what its optimizer makes of it: " +
                    failure + "; compared without its optimizations");
  }
  auto results = readReply(*folder, isPlain);
  if (!results)
    return results.takeError();
  return std::move(*results);
}

llvm::Expected<ReferenceResults>
mlc::cli::runReference(const ModelOptions &model,
                       llvm::ArrayRef<NamedTensor> inputs,
                       llvm::ArrayRef<std::string> layers) {
  auto results = runOnnxRuntime(model.model, inputs, layers);
  if (!results)
    return results.takeError();
  if (*results)
    return std::move(**results);
  return runEvaluator(model, inputs);
}
