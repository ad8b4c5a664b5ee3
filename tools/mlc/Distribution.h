//===- Distribution.h - How training is split over ranks --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DISTRIBUTION_H
#define MLC_TOOLS_MLC_DISTRIBUTION_H

#include "runtime/transport/RunEngines.h"
#include "tools/mlc/ModelOptions.h"
#include "tools/mlc/PlanFlag.h"
#include "tools/mlc/StageFlags.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// The options of a command that trains on several ranks.
class DistributionFlags {
public:
  explicit DistributionFlags(llvm::cl::SubCommand &sub);

  /// Opens the ranks of this process, whose sessions are on `device`; none for
  /// a single rank. `engines` outlives them.
  llvm::Error open(runtime::transport::RunEngines &engines,
                   const std::string &device,
                   std::vector<std::shared_ptr<runtime::Ranks>> &ranks) const;

  /// The plan for `ranks` ranks, including the server if there is one. Fails
  /// for unknown names, numbers out of range, and options for several ranks if
  /// there is one.
  llvm::Expected<runtime::Plan> plan(int64_t ranks) const;
  /// The number of ranks from --ranks or the file of --plan; default 1. Fails
  /// as reading that file does.
  llvm::Expected<int64_t> givenRanks() const;
  /// The plan for that many.
  llvm::Expected<runtime::Plan> givenPlan() const;
  /// Whether --print-plan is given: only print the plan.
  bool prints() const { return planFlag.prints(); }
  const MemoryBudget &getBudget() const { return planFlag.getBudget(); }
  /// Rank 0 prints the plan for as many ranks as a launcher has started.
  llvm::Error printPlan() const;

private:
  llvm::Error refuseAlone() const;
  llvm::Error refuseBesideServer() const;
  llvm::Error checkNames(bool &hasServer) const;
  llvm::Expected<runtime::Plan> readPlan() const;

  PlanFlag planFlag;
  EngineOption engine;
  llvm::cl::opt<unsigned> ranks;
  llvm::cl::opt<double> timeout;
  llvm::cl::opt<unsigned> groups;
  llvm::cl::opt<int64_t> accumulate;
  llvm::cl::opt<int64_t> microBatches;
  StageFlags stages;
  llvm::cl::opt<unsigned> zero;
  llvm::cl::opt<std::string> algorithm;
  llvm::cl::opt<int64_t> staleness;
  llvm::cl::opt<runtime::BatchStatistics> statistics;
  llvm::cl::opt<runtime::BucketRule> fusion;
  llvm::cl::opt<int64_t> bucketBytes, firstBucketBytes, prefetchLimit;
  /// --gather-window, the former name of --prefetch-limit.
  llvm::cl::alias gatherWindow;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DISTRIBUTION_H
