//===- Artifact.h - An opened artifact --------------------------*- C++ -*-===//
//
// Its programs with their weights and code images, ready for sessions. Shared
// by them; what changes after creation is only that more devices hold it.
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

/// Which states a program reads before it has written them, and which it
/// writes; by the state.
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
  DeviceMemory copy;          ///< of the weights, if they were copied
  uint8_t *weights = nullptr; ///< on the device
};

class Artifact {
public:
  /// Opens a file or memory; `flags` is a sum of MLC_OPEN_*.
  static Status open(const char *path, uint32_t flags,
                     std::shared_ptr<const Artifact> &artifact);
  static Status openMemory(const void *data, size_t size, uint32_t flags,
                           std::shared_ptr<const Artifact> &artifact);
  /// Makes one of parts in memory, for tests and for code compiled in this
  /// process. `weights` stay the caller's and must be 64-byte aligned;
  /// `kernels` are the program's, in its order.
  static Status create(Program program, const uint8_t *weights,
                       uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                       std::shared_ptr<const Artifact> &artifact);
  /// The same with several entries; `kernels` are those of the first, then
  /// those of the next.
  static Status create(Programs programs, const uint8_t *weights,
                       uint64_t weightsSize, std::vector<mlc_kernel> kernels,
                       std::shared_ptr<const Artifact> &artifact);

  size_t entryCount() const { return entries.size(); }
  const std::vector<State> &states() const { return all.states; }
  const std::vector<MeshAxis> &mesh() const { return all.mesh; }
  /// How it is trained, if it is.
  const std::optional<Training> &training() const { return all.training; }
  // Of an entry:
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
  /// The artifact on `device`: the first call for a device loads the code and
  /// brings the weights there. `loaded` lives as long as the artifact.
  /// MLC_DEVICE if no image fits the device, MLC_USAGE if the artifact was
  /// opened with MLC_OPEN_INSPECT.
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
  /// By the port.
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
  /// What is made of an entry's program when the artifact is opened.
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
  std::vector<PortText> stateTexts;
  Splits splitsOfStates;
  std::string manifestText;
  Mapping file;
  Memory copied;
  const uint8_t *weightBytes = nullptr;
  uint64_t weightCount = 0;
  std::vector<CodeImage> codeImages;
  std::vector<NamedFunction> functions; ///< of an image of kind Functions
  std::vector<std::string> kernelNames; ///< theirs
  /// What to call it in messages, and how to make it again.
  std::string displayName, remedy;
  uint32_t openFlags = 0;
  mutable std::mutex loading;
  mutable std::map<Device *, std::unique_ptr<LoadedProgram>> loadedOn;
};

} // namespace mlc::runtime

#endif // MLC_RUNTIME_ARTIFACT_H
