//===- Model.h - An artifact and a session on it ----------------*- C++ -*-===//
//
// The runtime's C ABI with its errors as Failures.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_TOOLS_MLC_MODEL_H
#define MLC_TOOLS_MLC_MODEL_H

#include "runtime/mlc_runtime.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace mlc::cli {

/// An opened artifact. Ports' pointers live as long as it does.
class Model {
public:
  /// Opens the file; `flags` is a sum of MLC_OPEN_*.
  static llvm::Expected<Model> open(llvm::StringRef path, uint32_t flags = 0);
  /// Opens an artifact made in this process; errors call it `name`.
  static llvm::Expected<Model> fromMemory(llvm::SmallVector<char, 0> bytes,
                                          llvm::StringRef name);

  /// The same artifact for its entry `name`. Fails if there is none.
  llvm::Expected<Model> entry(llvm::StringRef name) const;

  mlc_artifact *get() const { return artifact.get(); }
  /// The file's bytes, of an artifact made in this process.
  llvm::StringRef getBytes() const { return {bytes->data(), bytes->size()}; }
  const std::string &name() const { return fileName; }
  const std::vector<mlc_port> &inputs() const { return inputPorts; }
  const std::vector<mlc_port> &outputs() const { return outputPorts; }
  llvm::Expected<llvm::json::Value> manifest() const;

private:
  struct Close {
    void operator()(mlc_artifact *a) const { mlc_artifact_close(a); }
  };
  static llvm::Expected<Model> finish(Model model, mlc_artifact *artifact);

  std::string fileName;
  std::shared_ptr<llvm::SmallVector<char, 0>> bytes;
  std::unique_ptr<mlc_artifact, Close> artifact;
  std::vector<mlc_port> inputPorts, outputPorts;
};

/// The runtime's error about `file`, with its exit code.
llvm::Error runtimeFailure(llvm::StringRef file, mlc_status status);

/// "f32[1,3,?]" with the dims' texts.
std::string typeText(const mlc_port &port);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MODEL_H
