//===- Artifact.h - Writing an artifact -------------------------*- C++ -*-===//
//
// The compiler's side of the artifact file (runtime/ArtifactFormat.h): lays
// the sections out and stores equal constants once. Equal contents give equal
// bytes.
//
//   ArtifactWriter writer;
//   uint64_t offset = writer.addConstant(bytes);     // for Buffer::constant
//   ...
//   if (Error e = writer.write(stream, {manifest, &programs, images,
//                                       "mlc compile model.onnx ..."}))
//
//===----------------------------------------------------------------------===//

#ifndef MLC_CODEGEN_ARTIFACT_H
#define MLC_CODEGEN_ARTIFACT_H

#include "runtime/ArtifactFormat.h"
#include "runtime/CodeImage.h"
#include "runtime/Program.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <vector>

namespace mlc {

class ArtifactWriter {
public:
  /// The sections other than the weights.
  struct Contents {
    llvm::StringRef manifest; ///< JSON text
    const runtime::Programs *programs = nullptr;
    /// The kernels for each kind of device, the preferred one first. Their
    /// bytes must live until the artifact is written. Empty without kernels.
    std::vector<runtime::CodeImage> images;
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

  /// Writes the weights alone: weightsSize() bytes.
  void writeWeights(llvm::raw_ostream &os) const;

  /// Writes the file's bytes. Fails if an artifact cannot hold the program (see
  /// runtime/Program.h).
  llvm::Error write(llvm::raw_ostream &os, const Contents &contents) const;

private:
  struct Place {
    uint64_t offset;
    llvm::ArrayRef<char> bytes;
  };
  using Sink = llvm::function_ref<void(llvm::ArrayRef<char>)>;
  /// The parts of the file other than the contents.
  struct File {
    runtime::ArtifactHeader header = {};
    std::vector<uint8_t> program, table;
    std::vector<runtime::CodeImage> images;
  };
  void layOut(const Contents &contents, File &file) const;
  void emit(const Contents &contents, const File &file, Sink sink) const;

  std::vector<Place> places;
  std::map<runtime::Digest, uint64_t> known;
  uint64_t nextOffset = 0;
};

} // namespace mlc

#endif // MLC_CODEGEN_ARTIFACT_H
