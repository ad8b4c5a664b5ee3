//===- ForwardPipeline.h - A model in stages, ready to run ------*- C++ -*-===//
//
// Runs an artifact that has runtime::Pipeline: a batch goes through the stages
// in micro-batches, by the artifact's table on several ranks, and in turn on
// one.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRAIN_FORWARDPIPELINE_H
#define MLC_RUNTIME_TRAIN_FORWARDPIPELINE_H

#include "runtime/train/Carried.h"
#include "runtime/train/Group.h"
#include "runtime/train/StepSchedule.h"

namespace mlc::runtime::train {

class ForwardPipeline {
public:
  /// Ends all ranks if messages have failed, which may still write to memory.
  ~ForwardPipeline();
  /// Opens the stages of this rank. `how` is for their sessions; its ranks are
  /// those of the pipeline: as many as its table has lines, which all call
  /// this together, or one, or null. MLC_USAGE if the artifact is no pipeline,
  /// or of other ranks; MLC_BAD_FILE for a table that cannot run.
  static Status create(mlc_artifact *artifact, mlc_session_options how,
                       std::unique_ptr<ForwardPipeline> &made);

  /// Binds the whole tensor of an input, in host memory, for the runs to come;
  /// it is not copied.
  Status bindInput(size_t index, mlc_dtype type, size_t rank,
                   const int64_t *dims, const void *data);
  /// Runs a batch. All ranks call it together, with inputs of equal dims, and
  /// all have the outputs afterwards. MLC_USAGE for a batch that its
  /// micro-batches do not divide.
  Status run();
  /// An output of the last run that succeeded; valid until the next run.
  Status output(size_t index, mlc_tensor &tensor) const;

  /// How often runs have allocated memory or planned; constant as long as dims
  /// are.
  uint64_t allocations() const;

private:
  struct Input {
    bool isBound = false;
    std::vector<int64_t> dims;
    const char *data = nullptr;
    uint64_t partBytes = 0; ///< from a micro-batch to the next
  };
  /// An input or output of an entry that is one of the model.
  struct Place {
    size_t port, whole;
  };
  struct Entry {
    OpenEntry open;
    std::vector<Place> inputs, outputs;
  };
  struct Output {
    HostTensor whole;
    size_t entry = 0, port = 0;
    uint64_t partBytes = 0;
  };

  const Pipeline &pipeline() const { return *artifact->pipeline(); }
  Status open(mlc_artifact *handle, mlc_session_options &how);
  Status openEntries(mlc_artifact *handle, const mlc_session_options &how);
  void findPlaces(size_t entry);
  std::vector<int64_t> partDims(const PipelinePort &port,
                                std::vector<int64_t> dims) const;
  Status divideInputs();
  void findSizes(SymbolSizes &found) const;
  Status prepare();
  Status makeOutputs();
  Status runEntry(const Action &action);
  Status share(Output &output);

  std::shared_ptr<const Artifact> artifact;
  Group group;
  Stages stages;
  StepSchedule actions;
  std::vector<Entry> entries;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Carried carried;
  /// Those that memory was taken for; nothing before the first run and after a
  /// failed one.
  std::optional<SymbolSizes> sizes;
  bool hasRun = false;
  uint64_t ownAllocations = 0, carriedAllocations = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_FORWARDPIPELINE_H
