//===- Artifact.h - An opened artifact --------------------------*- C++ -*-===//
//
// Its programs with their weights and code images, shared by sessions. After
// creation it only changes by being loaded on more devices.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_ARTIFACT_H
#define MLC_RUNTIME_ARTIFACT_H

#include "runtime/ArtifactFormat.h"
#include "runtime/CodeImage.h"
#include "runtime/Device.h"
#include "runtime/Memory.h"
#include "runtime/Program.h"

#include <map>
#include <memory>
#include <mutex>

namespace mlc::runtime {

/// How the program's steps depend on values that earlier steps compute. Epoch 0
/// begins with the inputs' dims; each BindSymbol step ends an epoch.
struct Epochs {
  std::vector<uint32_t> ofExpr;    ///< epoch in which each expression is known
  std::vector<uint32_t> ofSymbol;  ///< epoch in which each symbol is known
  std::vector<uint32_t> ofBuffer;  ///< epoch in which an arena buffer is placed
  std::vector<uint32_t> firstStep; ///< of each epoch, and the number of steps
  uint32_t count() const { return firstStep.size() - 1; }
};

/// The steps that depend on parameters and constants alone. A session's first
/// run computes them, and the next run after a parameter is set.
struct Setup {
  std::vector<uint8_t> isStep;   ///< for each step
  std::vector<uint8_t> isBuffer; ///< arena buffers that such steps write
};
Setup findSetup(const Program &program);

/// Which states a program reads before it writes them, and which it writes;
/// indexed by state.
struct StateUse {
  std::vector<uint8_t> reads, writes;
  bool hasWrites = false;
};
StateUse findStateUse(const Program &program, size_t numStates);

/// An artifact's code and weights on one device.
struct LoadedProgram {
  std::unique_ptr<LoadedCode> code;
  /// For each entry, one per Program::kernels.
  std::vector<std::vector<KernelHandle>> kernels;
  DeviceMemory copy;          ///< of the weights, if they are copied
  uint8_t *weights = nullptr; ///< on the device
};

class Artifact {
public:
  /// Open a file or memory; `flags` is a sum of MLC_OPEN_*.
  static Status open(const char *path, uint32_t flags,
                     std::shared_ptr<const Artifact> &artifact);
  static Status openMemory(const void *data, size_t size, uint32_t flags,
                           std::shared_ptr<const Artifact> &artifact);
  /// Makes an artifact from parts in memory, for tests and for code compiled in
  /// this process. The caller keeps `weights`, 64-byte aligned; `kernels` are
  /// in the program's order.
  static Status create(Program program, const uint8_t *weights,
                       uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                       std::shared_ptr<const Artifact> &artifact);
  /// The same with several entries; `kernels` has those of the first entry,
  /// then those of the next.
  static Status create(Programs programs, const uint8_t *weights,
                       uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                       std::shared_ptr<const Artifact> &artifact);

  size_t entryCount() const { return entries.size(); }
  const std::vector<State> &states() const { return all.states; }
  const std::vector<MeshAxis> &mesh() const { return all.mesh; }
  /// How it is trained, if it is.
  const std::optional<Training> &training() const { return all.training; }
  /// The model whose stages the entries are, if they are stages.
  const std::optional<Pipeline> &pipeline() const { return all.pipeline; }
  // Per entry:
  const Program &program(size_t entry = 0) const { return all.entries[entry]; }
  const Epochs &epochs(size_t entry = 0) const { return entries[entry].epochs; }
  const std::vector<LiveRange> &lives(size_t entry = 0) const {
    return entries[entry].lives;
  }
  const Setup &setupSteps(size_t entry = 0) const {
    return entries[entry].setup;
  }
  const StateUse &stateUse(size_t entry = 0) const {
    return entries[entry].stateUse;
  }
  const uint8_t *weights() const { return weightBytes; }
  uint64_t weightsSize() const { return weightCount; }
  /// In the order of preference.
  const std::vector<CodeImage> &images() const { return codeImages; }
  const std::string &manifest() const { return manifestText; }
  /// Gives the artifact on `device`; the first call for a device loads the code
  /// and copies the weights there if need be. `loaded` lives as long as the
  /// artifact. MLC_DEVICE if no image fits the device, MLC_USAGE if the
  /// artifact was opened with MLC_OPEN_INSPECT.
  Status load(Device &device, const LoadedProgram *&loaded) const;

  /// A port as the C ABI shows it.
  struct PortText {
    std::vector<int64_t> dims;
    std::vector<std::string> texts;
    std::vector<const char *> pointers;
  };
  const PortText &inputText(size_t i, size_t entry = 0) const {
    return entries[entry].inputTexts[i];
  }
  const PortText &outputText(size_t i, size_t entry = 0) const {
    return entries[entry].outputTexts[i];
  }
  const PortText &parameterText(size_t i, size_t entry = 0) const {
    return entries[entry].parameterTexts[i];
  }
  const PortText &stateText(size_t i) const { return stateTexts[i]; }
  /// Of the whole model, if the artifact is a pipeline.
  const PortText &pipelineInputText(size_t i) const {
    return pipelineInputs[i];
  }
  const PortText &pipelineOutputText(size_t i) const {
    return pipelineOutputs[i];
  }
  /// Indexed by port.
  using Splits = std::vector<std::vector<mlc_split>>;
  const Splits &inputSplits(size_t entry = 0) const {
    return entries[entry].inputSplits;
  }
  const Splits &outputSplits(size_t entry = 0) const {
    return entries[entry].outputSplits;
  }
  const Splits &stateSplits() const { return splitsOfStates; }
  const std::vector<const char *> &stepNodes(size_t i, size_t entry = 0) const {
    return entries[entry].nodeTexts[i];
  }
  const std::string &stepText(size_t i, size_t entry = 0) const {
    return entries[entry].stepTexts[i];
  }

private:
  /// What opening the artifact derives from an entry's program.
  struct Entry {
    Epochs epochs;
    std::vector<LiveRange> lives;
    Setup setup;
    StateUse stateUse;
    std::vector<PortText> inputTexts, outputTexts, parameterTexts;
    Splits inputSplits, outputSplits;
    std::vector<std::vector<const char *>> nodeTexts;
    std::vector<std::string> stepTexts;
  };

  Artifact() = default;
  Status read(const uint8_t *data, size_t size, uint32_t flags);
  Status readTables(const ArtifactHeader &header, const uint8_t *data);
  Status finish();
  static Status makeEntry(const Program &program,
                          const std::vector<MeshAxis> &mesh, Entry &entry);
  bool hasKernels() const;
  Status loadOnFirst() const;
  Status loadOn(Device &device, const LoadedProgram *&loaded) const;
  const CodeImage *findImage(const Device &device) const;
  Status loadCode(Device &device, LoadedProgram &loaded) const;
  Status loadWeights(Device &device, LoadedProgram &loaded) const;
  Status named(Status status) const;
  bool hasImage(ImageKind kind) const;
  bool hasCudaImage() const;
  Status noImage(const Device &device) const;

  Programs all;
  std::vector<Entry> entries;
  std::vector<PortText> stateTexts, pipelineInputs, pipelineOutputs;
  Splits splitsOfStates;
  std::string manifestText;
  Mapping file;
  Memory copied;
  const uint8_t *weightBytes = nullptr;
  uint64_t weightCount = 0;
  std::vector<CodeImage> codeImages;
  std::vector<NamedFunction> functions; ///< for an image of kind Functions
  std::vector<std::string> kernelNames; ///< the names of `functions`
  /// Its name in messages, and how to make it again.
  std::string displayName, remedy;
  uint32_t openFlags = 0;
  mutable std::mutex loading;
  mutable std::map<Device *, std::unique_ptr<LoadedProgram>> loadedOn;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_ARTIFACT_H
