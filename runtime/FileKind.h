//===- FileKind.h - A file's kind, from its first bytes ---------*- C++ -*-===//

#ifndef MLC_RUNTIME_FILEKIND_H
#define MLC_RUNTIME_FILEKIND_H

#include "runtime/Status.h"

#include <cstddef>
#include <string_view>

namespace mlc::runtime {

enum class FileKind { Unknown, Artifact, Onnx, Safetensors, Other };

struct KnownFile {
  FileKind kind = FileKind::Unknown;
  const char *name = ""; ///< "a safetensors file"
};

/// Refuses a FIFO or socket, since reading one may block forever. Allows
/// devices and pipes that the shell opened (/dev/stdin, /dev/fd/63). Leaves
/// errors of opening to the caller that opens the file.
Status refuseFifo(const char *path);

/// How many first bytes knowFile looks at.
constexpr size_t fileKindBytes = 16;

/// The kind of file that begins with `bytes`, for messages about a wrong kind
/// of file. The rest of the file is not checked.
KnownFile knowFile(std::string_view bytes);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_FILEKIND_H
