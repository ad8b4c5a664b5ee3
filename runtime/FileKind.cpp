//===- FileKind.cpp - A file's kind, from its first bytes -----------------===//

#include "runtime/FileKind.h"
#include "runtime/ArtifactFormat.h"

#include <cstdint>
#include <cstring>
#include <sys/stat.h>

namespace mlc::runtime {

namespace {

struct Magic {
  size_t at;
  std::string_view bytes;
  const char *name;
};

constexpr Magic magics[] = {
    {0, "PK\x03\x04", "a zip archive, as PyTorch and NumPy write"},
    {0, "\x89HDF\r\n", "an HDF5 file, as Keras writes"},
    {0, "GGUF", "a GGUF file"},
    {4, "TFL3", "a TensorFlow Lite model"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0, "\x1f\x8b", "a gzip file"},
    {0, "\x80\x02", "a Python pickle"},
    {0, "\x80\x04", "a Python pickle"},
};

/// The length of the JSON header, then the JSON.
bool isSafetensors(std::string_view bytes) {
  if (bytes.size() < 10 || bytes[8] != '{')
    return false;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  return length >= 2 && length <= 100000000;
}

/// Field 1, the IR version, then a field that protobuf may write next.
bool isOnnx(std::string_view bytes) {
  return bytes.size() >= 3 && bytes[0] == 8 && bytes[1] >= 1 &&
         bytes[1] <= 32 && bytes[2] != 0 &&
         std::strchr("\x12\x1a\x22\x28\x32\x3a\x42\x72", bytes[2]);
}

} // namespace

Status refuseFifo(const char *path) {
  for (const char *opened : {"/dev/stdin", "/dev/fd/", "/proc/"})
    if (std::strncmp(path, opened, std::strlen(opened)) == 0)
      return Status::success();
  struct stat info;
  return ::stat(path, &info) == 0 &&
                 (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))
             ? Status::badFile("is not a regular file")
             : Status::success();
}

KnownFile knowFile(std::string_view bytes) {
  if (bytes.substr(0, sizeof(artifactMagic)) ==
      std::string_view(artifactMagic, sizeof(artifactMagic)))
    return {FileKind::Artifact, "an artifact of mlc"};
  if (isOnnx(bytes))
    return {FileKind::Onnx, "a model (ONNX)"};
  if (isSafetensors(bytes))
    return {FileKind::Safetensors, "a safetensors file"};
  for (const Magic &magic : magics)
    if (bytes.size() > magic.at &&
        bytes.substr(magic.at, magic.bytes.size()) == magic.bytes)
      return {FileKind::Other, magic.name};
  return {};
}

} // namespace mlc::runtime
