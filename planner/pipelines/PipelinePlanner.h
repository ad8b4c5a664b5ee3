//===- PipelinePlanner.h - Stages and a schedule for a step -----*- C++ -*-===//
//
// Chooses how a step of training runs as a pipeline: the schedule, and where
// the step is cut into stages. A step is given as many blocks in a row; a stage
// is several of them. What a choice takes is simulated, messages and updates
// included, so that imbalance, links and bubbles count together.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_PLANNER_PIPELINES_PIPELINEPLANNER_H
#define MLC_PLANNER_PIPELINES_PIPELINEPLANNER_H

#include "simulator/timeline/StepCosts.h"
#include "simulator/timeline/StepMemory.h"

namespace mlc::planner {

struct PipelineProblem {
  /// What blocks take for one micro-batch of one copy of the pipeline, on each
  /// kind of device; they differ in times alone. At least one.
  std::vector<simulator::StepCosts> blocks;
  simulator::StepMemory memory;
  const simulator::Network *network = nullptr;
  /// The cluster's ranks of the first copy, at least two, and those that do the
  /// same beside them: other copies, and ranks that have other parts of
  /// weights.
  simulator::StepPlaces places;
  /// The kind of each rank's device, the slowest of all that do the same.
  std::vector<size_t> kinds;
  /// Copies share the batch and add up their gradients in updates: a rank of
  /// copy k is k * stride behind that of the first.
  int64_t copies = 1, stride = 0;
  /// Neighbouring ranks that have parts of a stage's weights.
  int64_t parts = 1;
  /// How many times the estimated bytes a rank has to have.
  double margin = 1;
  int64_t microBatches = 1;
};

struct PipelineChoice {
  std::string schedule;
  /// Stages of a rank, where the schedule takes several numbers; else 0.
  int64_t chunks = 0;
  /// The ranks of each stage, which share its micro-batches; empty: one each,
  /// or as the schedule has them.
  std::vector<int64_t> replicas = {};
  /// The stages' blocks: those below ends[0], those from there below ends[1],
  /// ...
  std::vector<size_t> ends = {};
  simulator::Time span = 0;
  /// Of the whole time, how much ranks compute nothing.
  double idle = 0;
  /// Bytes of the rank that has, or sends, most; copies add up their gradients
  /// in a ring.
  int64_t memory = 0, sent = 0;
  /// Bytes that ranks have too little memory for, together. Arenas of stages
  /// are estimated from those of their blocks.
  int64_t excess = 0;
  /// The share of all ranks' memory that all of them need; above 1 no other
  /// stages fit.
  double fill = 0;
};

class PipelinePlanner {
public:
  /// `budget` is the most timelines that plan() makes.
  PipelinePlanner(const PipelineProblem &problem, int64_t budget)
      : problem(problem), budget(budget) {}

  /// A good choice of a schedule, by excess and then by span, with `chunks`
  /// stages a rank where it takes several. Stages begin as the best of what
  /// exact dynamic programs make: the heaviest stage as light as possible, or
  /// messages as short as possible for several limits of the heaviest. Then
  /// their ends move while that is better, unless stages fit that take more
  /// than `worth`. Fails as schedule::generate() does, and where there are
  /// fewer blocks than stages.
  runtime::Status plan(const std::string &schedule, int64_t chunks,
                       simulator::Time worth, PipelineChoice &best);

  /// The same with stages that have several ranks, for a schedule that takes
  /// replicas: so many stages of equally many ranks, or with 0 as PipeDream's
  /// dynamic program divides ranks among stages (planner/stages). Fails if that
  /// gives each stage one.
  runtime::Status planReplicas(const std::string &schedule, int64_t stages,
                               simulator::Time worth, PipelineChoice &best);

  /// No division of the blocks takes less under a synchronous schedule: ranks
  /// that share all work evenly, and a micro-batch's way through all blocks.
  simulator::Time bound() const;
  int64_t countTimelines() const { return timelines; }

private:
  struct Search;
  struct Sample;
  runtime::Status simulate(const simulator::StepCosts &costs,
                           runtime::schedule::Table &table,
                           Sample &sample) const;
  simulator::StepCosts join(const Search &search,
                            const std::vector<size_t> &ends) const;
  /// The memory of a choice that is not faster than `best`, which fits, is not
  /// found.
  runtime::Status evaluate(const Search &search, PipelineChoice &choice,
                           const PipelineChoice *best);
  std::vector<std::vector<size_t>> starts(const Search &search) const;
  runtime::Status begin(const Search &search, simulator::Time worth,
                        PipelineChoice &best);
  bool move(const Search &search, size_t first, size_t last, int64_t by,
            PipelineChoice &best);
  void improve(const Search &search, PipelineChoice &best);

  const PipelineProblem &problem;
  int64_t budget, timelines = 0;
};

} // namespace mlc::planner

#endif // MLC_PLANNER_PIPELINES_PIPELINEPLANNER_H
