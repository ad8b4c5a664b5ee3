//===- Artifact.h - Writing an artifact -------------------------*- C++ -*-===//
//
// The compiler's side of the artifact file (runtime/ArtifactFormat.h): lays
// the sections out, stores equal constants once, and lets the file appear
// whole or not at all. Equal contents give equal bytes.
//
//   ArtifactWriter writer;
//   uint64_t offset = writer.addConstant(bytes);     // for Buffer::constant
//   ...
//   if (Error e = writer.write("model.mlca", {manifest, &program, code,
//                                             "mlc compile model.onnx ..."}))
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_ARTIFACT_H
#define MLC_CODEGEN_ARTIFACT_H

#include "runtime/Blake3.h"
#include "runtime/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <vector>

namespace mlc {

class ArtifactWriter {
public:
  /// The sections beside the weights.
  struct Contents {
    llvm::StringRef manifest; ///< JSON text
    const runtime::Program *program = nullptr;
    llvm::ArrayRef<char> code; ///< ELF shared object; empty without kernels
    /// The command that makes the artifact again, without machine paths; shown
    /// by a runtime that cannot load it. Cut at 511 bytes.
    llvm::StringRef rebuild;
  };

  /// Adds a constant and returns its offset in the weights, a multiple of 64;
  /// equal contents get one place. `bytes` must live, unchanged, until the
  /// artifact is written.
  uint64_t addConstant(llvm::ArrayRef<char> bytes);

  /// Bytes of the weights so far.
  uint64_t weightsSize() const { return nextOffset; }

  /// Writes the file through a temporary one in the same folder and renames
  /// it. A failed or interrupted write leaves nothing behind (the temporary
  /// file is removed on signals that LLVM handles). Errors carry the system's
  /// error code and name the path. The program must be valid.
  llvm::Error write(llvm::StringRef path, const Contents &contents) const;

  /// The same into memory, to be opened by mlc_artifact_open_memory.
  llvm::Error writeToMemory(llvm::SmallVectorImpl<char> &out,
                            const Contents &contents) const;

private:
  struct Place {
    uint64_t offset;
    llvm::ArrayRef<char> bytes;
  };
  using Sink = llvm::function_ref<void(llvm::ArrayRef<char>)>;
  llvm::Error emit(const Contents &contents, Sink sink,
                   runtime::Digest &digest) const;

  std::vector<Place> places;
  std::map<runtime::Digest, uint64_t> known;
  uint64_t nextOffset = 0;
};

} // namespace mlc

#endif // MLC_CODEGEN_ARTIFACT_H
