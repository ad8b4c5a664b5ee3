//===- Distribution.h - How training is split over ranks --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DISTRIBUTION_H
#define MLC_TOOLS_MLC_DISTRIBUTION_H

#include "runtime/transport/RunEngines.h"
#include "tools/mlc/PlanFlag.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// The options of a command that trains on several ranks.
class DistributionFlags {
public:
  explicit DistributionFlags(llvm::cl::SubCommand &sub);

  /// The ranks that this process is, whose sessions are on `device`: none where
  /// there is one alone. `engines` outlives them.
  llvm::Error open(runtime::transport::RunEngines &engines,
                   const std::string &device,
                   std::vector<std::shared_ptr<runtime::Ranks>> &ranks) const;

  /// Of `ranks` ranks, a server among them if there is to be one. Errors: names
  /// that are none, numbers out of bounds, and options that say something of
  /// several ranks where there is one.
  llvm::Expected<runtime::Plan> plan(int64_t ranks) const;
  /// Of --ranks, or of the file of --plan: 1 where nothing is said. Errors: of
  /// that file.
  llvm::Expected<int64_t> givenRanks() const;
  /// The plan of as many.
  llvm::Expected<runtime::Plan> givenPlan() const;
  /// Of --print-plan: whether there is nothing to do but to print the plan.
  bool prints() const { return planFlag.prints(); }
  /// Prints it, of as many ranks as a launcher has started; the first does.
  llvm::Error printPlan() const;

private:
  llvm::Error refuseAlone() const;
  llvm::Error refuseBesideServer() const;
  llvm::Error checkNames(bool &hasServer) const;
  llvm::Expected<runtime::Plan> readPlan() const;

  PlanFlag planFlag;
  llvm::cl::opt<std::string> engine;
  llvm::cl::opt<unsigned> ranks;
  llvm::cl::opt<double> timeout;
  llvm::cl::opt<unsigned> groups;
  llvm::cl::opt<unsigned> zero;
  llvm::cl::opt<std::string> algorithm;
  llvm::cl::opt<int64_t> staleness;
  llvm::cl::opt<runtime::BatchStatistics> statistics;
  llvm::cl::opt<runtime::BucketRule> fusion;
  llvm::cl::opt<int64_t> bucketBytes, firstBucketBytes, gatherWindow;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DISTRIBUTION_H
