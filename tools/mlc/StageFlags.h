//===- StageFlags.h - The stages of a training step -------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_STAGEFLAGS_H
#define MLC_TOOLS_MLC_STAGEFLAGS_H

#include "runtime/plan/Plan.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// Reads the ranks of stages, "3,1", of --replicas.
llvm::Expected<std::vector<int64_t>>
readReplicas(const llvm::cl::list<std::string> &texts);

/// `--stages`, `--stage-ends`, `--replicas`, `--pipeline` and the sizes of
/// schedules (docs/Pipelines.md), and the mesh of training: `--mesh` and
/// `--shard` (docs/DataParallel.md).
class StageFlags {
public:
  explicit StageFlags(llvm::cl::SubCommand &sub);

  /// The flags, which say the same as a plan.
  llvm::SmallVector<const llvm::cl::Option *> options() const;
  /// Sets the stages, the mesh and the shardings of a plan that has all its
  /// ranks on the axis data. Without --mesh as many as there are stages, or as
  /// --replicas says, run them.
  llvm::Error apply(runtime::Plan &plan) const;
  /// The number of ranks of --mesh, or of --replicas; nothing without them.
  llvm::Expected<std::optional<int64_t>> ranksOfMesh() const;

private:
  llvm::Error setMesh(runtime::Plan &plan) const;
  llvm::Error setReplicas(runtime::StagePlan &plan) const;
  llvm::Error applyRanks(runtime::TrainingPlan &plan) const;
  llvm::Error applyMesh(runtime::Plan &whole) const;

  llvm::cl::opt<int64_t> stages;
  llvm::cl::list<std::string> ends;
  llvm::cl::opt<std::string> schedule;
  llvm::cl::list<std::string> replicas;
  llvm::cl::opt<int64_t> updateEvery, inFlight, slices;
  llvm::cl::opt<bool> recomputes;
  llvm::cl::list<std::string> keptResults;
  llvm::cl::opt<std::string> mesh;
  llvm::cl::list<std::string> shards;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_STAGEFLAGS_H
