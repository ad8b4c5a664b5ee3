//===- PipelineForms.h - Ways to share a step among ranks -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PIPELINEFORMS_H
#define MLC_TOOLS_MLC_PIPELINEFORMS_H

#include "planner/pipelines/PipelinePlanner.h"
#include "tools/mlc/PlanBlocks.h"

namespace mlc::cli {

/// How all ranks share a step, but for the schedule and the stages.
struct Form {
  int64_t copies = 1;
  int64_t parts = 1;  ///< ranks that have parts of a stage's weights
  int64_t places = 1; ///< ranks of a copy that run stages, of one part
  int64_t microBatches = 1;
  /// Stages are the outermost axis; else copies are.
  bool isOutermost = false;
  /// Of what is tried where more memory is needed.
  bool recomputes = false;
  int zero = 0;
  /// What ranks take at least that share all work evenly.
  simulator::Time least = 0;

  /// How far apart ranks are that differ in one of these alone.
  int64_t stride() const { return isOutermost ? parts : places * parts; }
  int64_t distance() const { return isOutermost ? copies * parts : parts; }
};

/// A form with a schedule, before it has stages.
struct Candidate {
  Form form;
  std::string schedule;
  int64_t chunks = 0;
  /// Stages that have several ranks: so many, or 0: as many as a dynamic
  /// program gives. -1: each has one.
  int64_t stages = -1;
  /// The picoseconds and bytes of a rank, if ranks share all evenly.
  double span = 0, memory = 0;
};

/// All forms that a request leaves open, with what they take at least.
class PipelineForms {
public:
  /// Both outlive this.
  PipelineForms(const PipelineRequest &request,
                const simulator::Network &network)
      : request(request), network(network), reader(request, network) {}

  /// Finds samples() and counts().
  llvm::Error findSizes();
  int64_t samples() const { return sampleCount; }
  /// Numbers of micro-batches, ascending.
  const std::vector<int64_t> &counts() const { return microBatches; }
  /// All forms with all schedules; findSizes() comes first.
  llvm::Expected<std::vector<Candidate>> candidates();

  llvm::Expected<const Blocks *> blocksOf(const Form &form);
  planner::PipelineProblem problemOf(const Form &form,
                                     const Blocks &blocks) const;
  BlockReader &blockReader() { return reader; }
  /// The memory of the device that has most.
  double largestMemory() const;
  /// Whether a device has memory for the states of a step that has one stage,
  /// and for the intermediate results of each entry.
  bool mayFit(const simulator::StepMemory &memory) const;

  /// Of candidates(): no one takes less, and what one rank takes for all.
  simulator::Time bound() const { return leastSpan; }
  simulator::Time timeOnOneRank() const { return onOneRank; }
  size_t countBlocks() const { return blockCount; }

private:
  std::vector<int64_t> partCounts() const;
  std::vector<std::pair<std::string, int64_t>> schedules() const;
  std::vector<Form> variantsOf(const Form &form) const;
  llvm::Error listForms(std::vector<Form> &forms);
  llvm::Error addForms(Form form, std::vector<Form> &forms);
  llvm::Error addCandidates(const Form &form, std::vector<Candidate> &all);

  const PipelineRequest &request;
  const simulator::Network &network;
  BlockReader reader;
  std::vector<int64_t> microBatches;
  int64_t sampleCount = 0;
  /// By parts: micro-batches of a copy that no device has memory for.
  std::map<int64_t, int64_t> tooLarge;
  simulator::Time leastSpan = 0, onOneRank = 0;
  size_t blockCount = 0;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PIPELINEFORMS_H
