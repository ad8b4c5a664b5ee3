//===- ModelFile.h - An ONNX file and the data it refers to -----*- C++ -*-===//

#ifndef MLC_PASSES_IMPORT_MODELFILE_H
#define MLC_PASSES_IMPORT_MODELFILE_H

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace mlc {

/// A parsed model. Tensor data in it is referenced, not copied: `keepAlive`
/// holds the bytes for as long as an attribute uses them.
class ModelFile {
public:
  /// Reads and parses the file; the message says what is wrong with it.
  static llvm::Expected<ModelFile> open(llvm::StringRef path);
  static llvm::Expected<ModelFile> parse(llvm::StringRef bytes,
                                         llvm::StringRef folder);

  const onnx::ModelProto &proto() const { return *model; }
  std::shared_ptr<const void> keepAlive() const { return model; }

  struct Bytes {
    llvm::StringRef data;
    std::shared_ptr<const void> owner;
  };
  /// `size` bytes of an external data file. The file must lie inside the
  /// model's folder, also after symbolic links are followed.
  llvm::Expected<Bytes> externalData(const onnx::TensorProto &tensor,
                                     uint64_t size);

private:
  llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>>
  openExternal(llvm::StringRef location);

  std::shared_ptr<const onnx::ModelProto> model;
  std::string folder;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> externalFiles;
};

} // namespace mlc

#endif // MLC_PASSES_IMPORT_MODELFILE_H
