//===- Model.cpp - An artifact and a session on it ------------------------===//

#include "tools/mlc/Model.h"
#include "codegen/target/Json.h"
#include "tools/mlc/Failure.h"

using namespace mlc::cli;

llvm::Error mlc::cli::runtimeFailure(llvm::StringRef file, mlc_status status) {
  llvm::StringRef message = mlc_last_error();
  std::string text = message.starts_with(file)
                         ? message.str()
                         : file.str() + ": " + message.str();
  if (status == MLC_BAD_FILE && !message.contains(';'))
    text += "; make it with mlc compile";
  return fail(static_cast<Exit>(status), text);
}

llvm::Expected<Model> Model::finish(Model model, mlc_artifact *artifact) {
  model.artifact.reset(artifact);
  for (size_t i = 0, n = mlc_artifact_input_count(artifact); i < n; ++i) {
    mlc_port port;
    if (mlc_status status = mlc_artifact_input(artifact, i, &port))
      return runtimeFailure(model.fileName, status);
    model.inputPorts.push_back(port);
  }
  for (size_t i = 0, n = mlc_artifact_output_count(artifact); i < n; ++i) {
    mlc_port port;
    if (mlc_status status = mlc_artifact_output(artifact, i, &port))
      return runtimeFailure(model.fileName, status);
    model.outputPorts.push_back(port);
  }
  return model;
}

llvm::Expected<Model> Model::open(llvm::StringRef path, uint32_t flags) {
  Model model;
  model.fileName = path.str();
  mlc_artifact *artifact = nullptr;
  if (mlc_status status =
          mlc_artifact_open(model.fileName.c_str(), flags, &artifact))
    return runtimeFailure(path, status);
  return finish(std::move(model), artifact);
}

llvm::Expected<Model> Model::fromMemory(llvm::SmallVector<char, 0> bytes,
                                        llvm::StringRef name) {
  Model model;
  model.fileName = name.str();
  model.bytes = std::make_shared<llvm::SmallVector<char, 0>>(std::move(bytes));
  mlc_artifact *artifact = nullptr;
  if (mlc_status status = mlc_artifact_open_memory(
          model.bytes->data(), model.bytes->size(), 0, &artifact))
    return runtimeFailure(name, status);
  return finish(std::move(model), artifact);
}

llvm::Expected<Model> Model::entry(llvm::StringRef name) const {
  Model model;
  model.fileName = fileName;
  model.bytes = bytes;
  size_t index = 0;
  mlc_artifact *handle = nullptr;
  mlc_status status =
      mlc_artifact_find_entry(artifact.get(), name.str().c_str(), &index);
  if (!status)
    status = mlc_artifact_entry(artifact.get(), index, &handle);
  if (status)
    return runtimeFailure(fileName, status);
  return finish(std::move(model), handle);
}

llvm::Expected<llvm::json::Value> Model::manifest() const {
  size_t size = 0;
  const char *text = mlc_artifact_manifest(artifact.get(), &size);
  llvm::Expected<llvm::json::Value> value =
      parseJson(llvm::json::fixUTF8(llvm::StringRef(text, size)));
  if (!value) {
    llvm::consumeError(value.takeError());
    return fail(Exit::BadFile, fileName + ": the manifest is no JSON; compile "
                                          "the model again");
  }
  return value;
}

std::string mlc::cli::typeText(const mlc_port &port) {
  std::string text = mlc_dtype_name(port.type);
  text += '[';
  for (size_t i = 0; i < port.rank; ++i)
    text += (i ? ", " : "") + std::string(port.dim_texts[i]);
  return text + ']';
}
