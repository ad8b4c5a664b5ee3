//===- Artifact.h - An opened artifact --------------------------*- C++ -*-===//
//
// The program with its weights and its code, ready for sessions. Immutable
// after creation and shared by them.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_ARTIFACT_H
#define MLC_RUNTIME_ARTIFACT_H

#include "runtime/ArtifactFormat.h"
#include "runtime/Kernel.h"
#include "runtime/Memory.h"
#include "runtime/Program.h"

#include <memory>

namespace mlc::runtime {

/// How the program's steps hang on values that earlier steps compute. Epoch 0
/// begins with the inputs' dims; each BindSymbol step ends an epoch.
struct Epochs {
  std::vector<uint32_t> ofExpr;    ///< in which each expression is known
  std::vector<uint32_t> ofSymbol;  ///< in which each symbol is known
  std::vector<uint32_t> ofBuffer;  ///< in which an arena buffer is placed
  std::vector<uint32_t> firstStep; ///< of each epoch, and the number of steps
  uint32_t count() const { return firstStep.size() - 1; }
};

/// What depends on parameters (and constants) alone: it is computed by a
/// session's first run, and again when a parameter has been set.
struct Setup {
  std::vector<uint8_t> isStep;   ///< for each step
  std::vector<uint8_t> isBuffer; ///< arena buffers that such steps write
};
Setup findSetup(const Program &program);

class Artifact {
public:
  /// Opens a file or memory; `flags` is a sum of MLC_OPEN_*.
  static Status open(const char *path, uint32_t flags,
                     std::shared_ptr<const Artifact> &artifact);
  static Status openMemory(const void *data, size_t size, uint32_t flags,
                           std::shared_ptr<const Artifact> &artifact);
  /// Makes one of parts in memory, for tests and for code compiled in this
  /// process. `weights` stay the caller's and must be 64-byte aligned.
  static Status create(Program program, const uint8_t *weights,
                       uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                       std::shared_ptr<const Artifact> &artifact);
  ~Artifact();

  const Program &program() const { return prog; }
  const Epochs &epochs() const { return epoch; }
  const std::vector<LiveRange> &lives() const { return live; }
  const Setup &setupSteps() const { return setup; }
  const uint8_t *weights() const { return weightBytes; }
  uint64_t weightsSize() const { return weightCount; }
  uint64_t codeSize() const { return codeCount; }
  const std::string &manifest() const { return manifestText; }
  /// One per Program::kernels; empty if opened with MLC_OPEN_INSPECT.
  const std::vector<mlc_kernel> &kernels() const { return functions; }

  /// A port as the C ABI shows it.
  struct PortText {
    std::vector<int64_t> dims;
    std::vector<std::string> texts;
    std::vector<const char *> pointers;
  };
  const PortText &inputText(size_t i) const { return inputTexts[i]; }
  const PortText &outputText(size_t i) const { return outputTexts[i]; }
  const PortText &parameterText(size_t i) const { return parameterTexts[i]; }
  const std::vector<const char *> &stepNodes(size_t i) const {
    return nodeTexts[i];
  }

private:
  Artifact() = default;
  Status load(const uint8_t *data, size_t size, uint32_t flags,
              const std::string &name);
  Status loadCode(const ArtifactHeader &header, const uint8_t *code,
                  size_t size);
  Status finish();

  Program prog;
  Epochs epoch;
  std::vector<LiveRange> live;
  Setup setup;
  std::string manifestText;
  Mapping file;
  Memory copied;
  const uint8_t *weightBytes = nullptr;
  uint64_t weightCount = 0, codeCount = 0;
  void *library = nullptr;
  int codeFile = -1;
  std::vector<mlc_kernel> functions;
  std::vector<PortText> inputTexts, outputTexts, parameterTexts;
  std::vector<std::vector<const char *>> nodeTexts;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_ARTIFACT_H
