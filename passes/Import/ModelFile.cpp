//===- ModelFile.cpp - An ONNX file and the data it refers to -------------===//

#include "passes/Import/ModelFile.h"
#include "runtime/Blake3.h"
#include "runtime/FileKind.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace mlc {

static Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// An error about `what` from the runtime's failure to read a file.
static Error makeError(const llvm::Twine &what, const runtime::Status &status) {
  if (status.code == MLC_RESOURCES)
    return llvm::createStringError(
        std::make_error_code(std::errc::not_enough_memory),
        what + status.message);
  return makeError(what + status.message);
}

static constexpr StringRef tooLarge =
    "has more than 2 GB, which ONNX's format cannot hold; store the weights as "
    "external data";

static Error limitError() {
  return llvm::createStringError(
      std::make_error_code(std::errc::file_too_large), tooLarge);
}

static std::string hexOf(const runtime::Blake3 &hash) {
  return runtime::toHex(hash.finish());
}

namespace {

/// An open file as a protobuf stream that hashes what is read.
class HashedFile : public google::protobuf::io::CopyingInputStream {
public:
  explicit HashedFile(int fd) : fd(fd) {}

  int Read(void *buffer, int size) override {
    ssize_t n;
    do
      n = ::read(fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
      error = errno;
    else
      hash.update(buffer, n);
    if (n > 0 && first.size() < runtime::fileKindBytes)
      first.append(static_cast<char *>(buffer), n);
    return static_cast<int>(n);
  }

  runtime::Blake3 hash;
  std::string first; ///< the first bytes read
  int error = 0;

private:
  int fd;
};

} // namespace

/// `error` for a file with these first bytes that could not be parsed.
static Error explain(Error error, StringRef first) {
  runtime::KnownFile known = runtime::knowFile(first);
  std::string text = std::string("is ") + known.name;
  switch (known.kind) {
  case runtime::FileKind::Unknown:
  case runtime::FileKind::Onnx:
    return error;
  case runtime::FileKind::Artifact:
    text += ", compiled already; give the model (.onnx) it was made of";
    break;
  case runtime::FileKind::Safetensors:
    text += ", which has weights and no graph; export the model to ONNX";
    break;
  case runtime::FileKind::Other:
    text += ", not a model; export the model to ONNX";
    break;
  }
  llvm::consumeError(std::move(error));
  return makeError(text);
}

/// Parses all of the stream.
static Expected<std::shared_ptr<onnx::ModelProto>>
parseStream(google::protobuf::io::ZeroCopyInputStream &bytes) {
  // Protobuf would write its own messages about a damaged file.
  google::protobuf::LogSilencer silencer;
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(&bytes);
  stream.SetRecursionLimit(100);
  bool parsed = model->ParseFromCodedStream(&stream);
  // Protobuf's limit.
  if (stream.CurrentPosition() >= INT_MAX - 1)
    return limitError();
  if (!parsed || !stream.ConsumedEntireMessage())
    return makeError("not an ONNX model, or cut off or damaged; export or "
                     "download it again");
  if (stream.CurrentPosition() == 0)
    return makeError("the file is empty; export the model again");
  if (!model->has_graph())
    return makeError("the model has no graph, so it is not ONNX or was cut "
                     "off; export or download it again");
  if (model->opset_import_size() == 0)
    return makeError("the model names no opset version, so it is not ONNX or "
                     "was cut off; export or download it again");
  return model;
}

Expected<ModelFile> ModelFile::open(StringRef name) {
  if (runtime::Status status = runtime::refuseFifo(name.str().c_str());
      !status.ok())
    return makeError(status.message + "; give the model's file");
  int fd = ::open(name.str().c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return llvm::createStringError(
        std::error_code(errno, std::generic_category()),
        "cannot read the file: " + llvm::Twine(std::strerror(errno)));
  auto close = llvm::make_scope_exit([&] { ::close(fd); });
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > INT_MAX)
    return limitError();
  HashedFile bytes(fd);
  google::protobuf::io::CopyingInputStreamAdaptor stream(&bytes, 1 << 16);
  Expected<std::shared_ptr<onnx::ModelProto>> model = parseStream(stream);
  if (bytes.error) {
    llvm::consumeError(model.takeError());
    return llvm::createStringError(
        std::error_code(bytes.error, std::generic_category()),
        "cannot read the file: " + llvm::Twine(std::strerror(bytes.error)));
  }
  if (!model)
    return explain(model.takeError(), bytes.first);
  StringRef parent = path::parent_path(name);
  ModelFile file;
  file.model = std::move(*model);
  file.folder = parent.empty() ? "." : parent.str();
  file.hash = hexOf(bytes.hash);
  return file;
}

Expected<ModelFile> ModelFile::parse(StringRef bytes, StringRef folder) {
  if (bytes.size() > size_t(INT_MAX))
    return limitError();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), bytes.size());
  Expected<std::shared_ptr<onnx::ModelProto>> model = parseStream(stream);
  if (!model)
    return explain(model.takeError(), bytes);
  runtime::Blake3 hash;
  hash.update(bytes.data(), bytes.size());
  ModelFile file;
  file.model = std::move(*model);
  file.folder = folder.str();
  file.hash = hexOf(hash);
  return file;
}

/// Whether the path stays inside the folder by its text: relative, no `..`.
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

/// The machine's memory; larger data is not read at all.
static uint64_t memoryOfMachine() {
  long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : UINT64_MAX;
}

Expected<std::shared_ptr<runtime::FileBytes>>
ModelFile::openExternal(StringRef location) {
  if (auto found = locations.find(location); found != locations.end())
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
                     "': " + error.message() + "; put it beside the model");
  if (std::error_code error = fs::real_path(folder, realFolder))
    return makeError("cannot read the folder '" + folder +
                     "': " + error.message());
  if (!path::is_separator(realFolder.back()))
    realFolder += path::get_separator();
  if (!StringRef(realFile).starts_with(realFolder))
    return makeError("refers to the file '" + location +
                     "', a link that leaves the model's folder; put its data "
                     "beside the model");
  // Two paths to one file share its bytes.
  std::shared_ptr<runtime::FileBytes> &shared = externalFiles[realFile];
  if (!shared) {
    auto bytes = std::make_shared<runtime::FileBytes>();
    uint64_t memory = memoryOfMachine();
    runtime::Status status = runtime::FileBytes::readOwn(
        realFile.c_str(), memory - std::min(memory, externalSize), *bytes);
    if (!status.ok())
      return makeError("cannot take its data from '" + file + "', which ",
                       status);
    externalSize += bytes->text().size();
    shared = std::move(bytes);
  }
  return locations[location] = shared;
}

namespace {
/// What a tensor says of its external data.
struct External {
  StringRef location;
  uint64_t offset = 0;
};
} // namespace

static Expected<External> readExternal(const onnx::TensorProto &tensor,
                                       uint64_t size) {
  External found;
  uint64_t length = size;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef key(entry.key()), value(entry.value());
    bool bad = false;
    if (key == "location")
      found.location = value;
    else if (key == "offset")
      bad = value.getAsInteger(10, found.offset);
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
  return found;
}

Expected<bool> ModelFile::hasShapeAlone(const onnx::TensorProto &tensor,
                                        uint64_t size) const {
  if (!isByShape || folder.empty() ||
      tensor.data_location() != onnx::TensorProto::EXTERNAL)
    return false;
  Expected<External> external = readExternal(tensor, size);
  if (!external)
    return external.takeError();
  if (!staysInside(external->location))
    return false;
  llvm::SmallString<256> file(folder);
  path::append(file, external->location);
  return !fs::exists(file);
}

Expected<ModelFile::Bytes>
ModelFile::externalData(const onnx::TensorProto &tensor, uint64_t size) {
  Expected<External> external = readExternal(tensor, size);
  if (!external)
    return external.takeError();
  const auto [location, offset] = *external;
  auto buffer = openExternal(location);
  if (!buffer)
    return buffer.takeError();
  StringRef data = (*buffer)->text();
  if (offset > data.size() || size > data.size() - offset)
    return makeError("needs bytes " + llvm::Twine(offset) + " to " +
                     llvm::Twine(offset) + " + " + llvm::Twine(size) + " of '" +
                     location + "', which has " + llvm::Twine(data.size()) +
                     "; the file was cut off or belongs to another model");
  return Bytes{data.substr(offset, size), *buffer};
}

std::vector<std::string> ModelFile::getExternalFiles() const {
  std::vector<std::string> files;
  for (const auto &entry : externalFiles)
    if (entry.second)
      files.push_back(entry.first().str());
  return files;
}

} // namespace mlc
