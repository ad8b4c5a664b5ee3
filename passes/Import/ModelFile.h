//===- ModelFile.h - An ONNX file and the data it refers to -----*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_MODELFILE_H
#define MLC_PASSES_IMPORT_MODELFILE_H

#include "onnx-ml.pb.h"
#include "runtime/FileBytes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace mlc {

/// A parsed model. Tensor data is referenced, not copied: `keepAlive` holds the
/// bytes as long as an attribute uses them. Errors with a system error code
/// mean a lack of memory or an exceeded bound.
class ModelFile {
public:
  /// Reads and parses the file, which may be a pipe; the error says what is
  /// wrong with it. Reads at most 2 GB, the format's own limit.
  static llvm::Expected<ModelFile> open(llvm::StringRef path);
  static llvm::Expected<ModelFile> parse(llvm::StringRef bytes,
                                         llvm::StringRef folder);

  const onnx::ModelProto &proto() const { return *model; }
  std::shared_ptr<const void> keepAlive() const { return model; }
  /// BLAKE3 of the file's bytes, in hexadecimal.
  const std::string &getHash() const { return hash; }

  struct Bytes {
    llvm::StringRef data;
    std::shared_ptr<const void> owner;
  };
  /// `size` bytes of an external data file. The file must be inside the model's
  /// folder, also after symbolic links are followed, and must have no other
  /// hard link, which could belong to any file. It is read, not mapped, so
  /// later changes to it do not matter.
  llvm::Expected<Bytes> externalData(const onnx::TensorProto &tensor,
                                     uint64_t size);
  /// Float tensors whose external file is not there have some number for all
  /// elements, for plans that depend on shapes alone.
  void planByShape() { isByShape = true; }
  /// Whether that holds for the tensor; an error as of externalData for what
  /// its external data say of themselves.
  llvm::Expected<bool> hasShapeAlone(const onnx::TensorProto &tensor,
                                     uint64_t size) const;
  /// The external files that were read.
  std::vector<std::string> getExternalFiles() const;

private:
  llvm::Expected<std::shared_ptr<runtime::FileBytes>>
  openExternal(llvm::StringRef location);

  std::shared_ptr<const onnx::ModelProto> model;
  std::string folder, hash;
  /// By real path, and by the location that tensors name.
  llvm::StringMap<std::shared_ptr<runtime::FileBytes>> externalFiles, locations;
  uint64_t externalSize = 0;
  bool isByShape = false;
};

} // namespace mlc

#endif // MLC_PASSES_IMPORT_MODELFILE_H
