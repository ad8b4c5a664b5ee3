//===- FileKind.h - What a file is by its first bytes -----------*- C++ -*-===//

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

/// Refuses a FIFO or socket, for which nobody may ever write; pipes that the
/// shell has opened (/dev/stdin, /dev/fd/63) and devices are none. What cannot
/// be opened is left to who opens it.
Status refuseFifo(const char *path);

/// How many first bytes knowFile looks at.
constexpr size_t fileKindBytes = 16;

/// What kind of file begins with `bytes`: for messages about one that was given
/// where another kind belongs. Whether it is whole, nobody says.
KnownFile knowFile(std::string_view bytes);

} // namespace mlc::runtime

#endif // MLC_RUNTIME_FILEKIND_H
