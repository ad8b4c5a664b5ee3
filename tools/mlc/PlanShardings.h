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
  /// The model's flags are those of the command, and outlive this.
  ShardingPlanner(llvm::cl::SubCommand &sub, ModelOptions &model,
                  const TrainingFlags &training,
                  const OptimizerFlags &optimizer);

  /// Its own flags.
  std::vector<const llvm::cl::Option *> options() const;
  const llvm::cl::Option &meshOption() const { return mesh; }
  const std::string &meshText() const { return mesh.getValue(); }

  struct Request {
    std::string cluster; ///< its name
    int64_t ranks = 1;
    /// Samples of a step, of all ranks together; 0: as the model has them.
    int64_t samples = 0;
    std::string output; ///< the plan's file, or empty
    bool asJson = false;
    std::string mesh = {}; ///< instead of that of --mesh
  };
  /// Plans for so many ranks of the cluster; prints what was found, and writes
  /// the plan.
  llvm::Error run(const simulator::Cluster &cluster, const Request &request);

  /// The plans with an axis beside `data`, one for each mesh.
  llvm::Expected<std::vector<runtime::Plan>>
  plan(const simulator::Cluster &cluster, const Request &request);

  /// How a step of `batch` samples splits weights and tensors over so many
  /// neighbouring ranks, which together with `ranks` others have the memory for
  /// it. Fails where nothing is worth being split.
  llvm::Expected<std::vector<runtime::TensorSharding>>
  split(const simulator::Cluster &cluster, int64_t parts, int64_t batch,
        int64_t ranks);

private:
  /// What was found for a mesh.
  struct Found {
    runtime::Plan plan;
    /// By the choices, where there are some; `cost` of those of this plan.
    double cost = 0, bound = 0, gap = 0;
    size_t choices = 0;
    MeshCosts::Sum step;
  };

  llvm::Expected<std::vector<runtime::Plan>>
  meshes(const Request &request) const;
  llvm::Expected<std::vector<Found>> find(const simulator::Cluster &cluster,
                                          const Request &request);
  llvm::Expected<Found> planMesh(const simulator::Cluster &cluster,
                                 const runtime::Plan &plan);
  llvm::Expected<dist::ShardingProblem>
  makeProblem(const simulator::Cluster &cluster, TrainingModel &read,
              const runtime::TrainingPlan &split, bool needsReason);
  llvm::Error checkMemory(const simulator::Cluster &cluster,
                          const runtime::Plan &plan);
  llvm::Error choose(const simulator::Cluster &cluster, TrainingModel &read,
                     bool needsReason, Found &found);
  llvm::Error solve(const simulator::Cluster &cluster,
                    const runtime::Plan &plan, bool needsReason, Found &found);
  llvm::Expected<Found> planChoices(const simulator::Cluster &cluster,
                                    const runtime::Plan &plan,
                                    bool needsReason);
  llvm::Expected<MeshCosts::Sum> price(const simulator::Cluster &cluster,
                                       const runtime::Plan &plan);
  llvm::Expected<int64_t> memoryOf(const simulator::Cluster &cluster) const;
  void print(const std::vector<Found> &all, const Found &best,
             bool asJson) const;

  ModelOptions &model;
  const TrainingFlags &training;
  const OptimizerFlags &optimizer;
  llvm::cl::opt<std::string> mesh, memory;
  int64_t batch = 0;   ///< samples of a step
  int64_t sharers = 1; ///< ranks that have the memory of one together
  std::string hash;    ///< of the model
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANSHARDINGS_H
