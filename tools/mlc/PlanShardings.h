//===- PlanShardings.h - How a step is shared over a mesh -------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANSHARDINGS_H
#define MLC_TOOLS_MLC_PLANSHARDINGS_H

#include "passes/Shardings/ShardingProblem.h"
#include "simulator/cluster/Cluster.h"
#include "tools/mlc/MeshCosts.h"
#include "tools/mlc/OptimizerFlags.h"
#include "tools/mlc/TrainingFlags.h"

namespace mlc::cli {

/// The flags of `mlc plan MODEL`, and what they plan: the mesh, and where
/// weights and tensors inside the model are split over it (docs/Planners.md).
class ShardingPlanner {
public:
  explicit ShardingPlanner(llvm::cl::SubCommand &sub);

  /// The file of the command: a model, or layers (.csv).
  const std::string &file() const { return model.model.getValue(); }

  /// Plans for `ranks` ranks of the cluster `name`; prints what was found, and
  /// writes the plan.
  llvm::Error run(const simulator::Cluster &cluster, const std::string &name,
                  int64_t ranks, bool asJson);

private:
  /// What was found for a mesh.
  struct Found {
    runtime::Plan plan;
    /// By the choices, where there are some; `cost` of those of this plan.
    double cost = 0, bound = 0, gap = 0;
    size_t choices = 0;
    MeshCosts::Sum step;
  };

  llvm::Expected<std::vector<runtime::Plan>> meshes(int64_t ranks) const;
  llvm::Expected<Found> planMesh(const simulator::Cluster &cluster,
                                 const runtime::Plan &plan);
  llvm::Expected<dist::ShardingProblem>
  makeProblem(const simulator::Cluster &cluster, TrainingModel &read,
              const runtime::TrainingPlan &split, bool needsReason);
  llvm::Error checkMemory(const simulator::Cluster &cluster,
                          const runtime::Plan &plan);
  llvm::Error choose(const simulator::Cluster &cluster, TrainingModel &read,
                     bool needsReason, Found &found);
  llvm::Expected<Found> planChoices(const simulator::Cluster &cluster,
                                    const runtime::Plan &plan,
                                    bool needsReason);
  llvm::Expected<MeshCosts::Sum> price(const simulator::Cluster &cluster,
                                       const runtime::Plan &plan);
  llvm::Expected<int64_t> memoryOf(const simulator::Cluster &cluster) const;
  void print(const std::vector<Found> &all, const Found &best,
             bool asJson) const;

  ModelOptions model;
  TrainingFlags training;
  OptimizerFlags optimizer;
  llvm::cl::opt<int64_t> batch;
  llvm::cl::opt<std::string> mesh, memory, output;
  std::string hash; ///< of the model
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANSHARDINGS_H
