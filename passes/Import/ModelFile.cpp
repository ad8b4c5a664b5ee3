//===- ModelFile.cpp - An ONNX file and the data it refers to -------------===//

#include "passes/Import/ModelFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace mlc {

static Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

Expected<ModelFile> ModelFile::open(StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read the file: " + buffer.getError().message());
  StringRef parent = path::parent_path(file);
  return parse((*buffer)->getBuffer(), parent.empty() ? "." : parent);
}

Expected<ModelFile> ModelFile::parse(StringRef bytes, StringRef folder) {
  if (bytes.empty())
    return makeError("the file is empty; export the model again");
  if (bytes.size() > size_t(INT_MAX))
    return makeError("the file has more than 2 GB, which ONNX's format cannot "
                     "hold; store the weights as external data");
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  stream.SetRecursionLimit(100);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return makeError("not an ONNX model, or cut off or damaged; export or "
                     "download it again");
  if (!model->has_graph())
    return makeError("the model has no graph, so it is not ONNX or was cut "
                     "off; export or download it again");
  if (model->opset_import_size() == 0)
    return makeError("the model names no opset version, so it is not ONNX or "
                     "was cut off; export or download it again");
  ModelFile file;
  file.model = std::move(model);
  file.folder = folder.str();
  return file;
}

/// Inside the folder by its text alone: relative and without `..`.
static bool staysInside(StringRef location) {
  if (location.empty() || path::is_absolute(location) ||
      location.contains('\0'))
    return false;
  for (auto it = path::begin(location), end = path::end(location); it != end;
       ++it)
    if (*it == "..")
      return false;
  return true;
}

Expected<std::shared_ptr<llvm::MemoryBuffer>>
ModelFile::openExternal(StringRef location) {
  if (auto found = externalFiles.find(location); found != externalFiles.end())
    return found->second;
  if (folder.empty())
    return makeError("refers to the file '" + location +
                     "', but this model has no folder");
  if (!staysInside(location))
    return makeError("refers to the file '" + location +
                     "' outside the model's folder; put its data beside the "
                     "model");
  llvm::SmallString<256> file(folder), realFolder, realFile;
  path::append(file, location);
  if (std::error_code error = fs::real_path(file, realFile))
    return makeError("cannot read its data in '" + file +
                     "': " + error.message());
  if (std::error_code error = fs::real_path(folder, realFolder))
    return makeError("cannot read the folder '" + folder +
                     "': " + error.message());
  if (!path::is_separator(realFolder.back()))
    realFolder += path::get_separator();
  if (!StringRef(realFile).starts_with(realFolder))
    return makeError("refers to the file '" + location +
                     "', a link that leaves the model's folder; put its data "
                     "beside the model");
  if (!fs::is_regular_file(realFile))
    return makeError("refers to '" + location + "', which is not a file");
  auto buffer = llvm::MemoryBuffer::getFile(realFile, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read its data in '" + file +
                     "': " + buffer.getError().message());
  std::shared_ptr<llvm::MemoryBuffer> shared = std::move(*buffer);
  externalFiles[location] = shared;
  return shared;
}

Expected<ModelFile::Bytes>
ModelFile::externalData(const onnx::TensorProto &tensor, uint64_t size) {
  StringRef location;
  uint64_t offset = 0, length = size;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key(entry.key()), value(entry.value());
    bool bad = false;
    if (key == "location")
      location = value;
    else if (key == "offset")
      bad = value.getAsInteger(10, offset);
    else if (key == "length")
      bad = value.getAsInteger(10, length);
    if (bad)
      return makeError("has external data with " + key + " '" + value +
                       "', which is not a number");
  }
  if (length != size)
    return makeError("needs " + llvm::Twine(size) +
                     " bytes by its type, but its external data has " +
                     llvm::Twine(length));
  auto buffer = openExternal(location);
  if (!buffer)
    return buffer.takeError();
  StringRef data = (*buffer)->getBuffer();
  if (offset > data.size() || size > data.size() - offset)
    return makeError("needs bytes " + llvm::Twine(offset) + " to " +
                     llvm::Twine(offset) + " + " + llvm::Twine(size) + " of '" +
                     location + "', which has " + llvm::Twine(data.size()) +
                     "; the file was cut off or belongs to another model");
  return Bytes{data.substr(offset, size), *buffer};
}

} // namespace mlc
