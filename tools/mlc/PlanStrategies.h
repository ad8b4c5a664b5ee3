//===- PlanStrategies.h - Written strategies as plans -----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANSTRATEGIES_H
#define MLC_TOOLS_MLC_PLANSTRATEGIES_H

#include "planner/strategies/Strategies.h"
#include "tools/mlc/PlanPipelines.h"
#include "tools/mlc/PlanShardings.h"

namespace mlc::cli {

/// `--strategy` and `--shard` of `mlc plan MODEL`, and what they plan: ways to
/// share a step that people have written down (docs/Planners.md).
class StrategyPlanner {
public:
  explicit StrategyPlanner(llvm::cl::SubCommand &sub);

  std::vector<const llvm::cl::Option *> options() const;
  bool isGiven() const { return !strategy.empty(); }
  /// Whether only a table of strategies is asked for.
  bool wantsTable() const { return strategy == "help"; }
  static void printTable();
  /// Fails for an unknown strategy, and for flags that are of another one.
  llvm::Error check() const;

  /// Simulates the plans of the strategy that is given, or of all that can be
  /// carried out with so many ranks and samples, and adds them, the best first.
  /// Of plans that differ in the number of micro-batches alone, without stages,
  /// that with the fewest that fits is added. Fails where the strategy that is
  /// given gives none. `shardings` plans what has to be solved.
  llvm::Error add(const PipelineRequest &request,
                  const simulator::Cluster &cluster, ShardingPlanner &shardings,
                  PipelinePlans &found) const;

private:
  llvm::cl::opt<std::string> strategy;
  llvm::cl::list<std::string> shards;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANSTRATEGIES_H
