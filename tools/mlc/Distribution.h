//===- Distribution.h - How training is split over ranks --------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DISTRIBUTION_H
#define MLC_TOOLS_MLC_DISTRIBUTION_H

#include "passes/Distribute/DistributePlan.h"
#include "runtime/transport/RunEngines.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace mlc::cli {

/// Whose samples batch normalization takes mean and variance of.
enum class BatchStatistics { Global, Local };

/// What several ranks do alike.
struct Distribution {
  int64_t ranks = 1;
  ZeroStage zero = ZeroStage::None;
  /// Of sums: of runtime/transport/Algorithms.def; empty: the engine's own.
  std::string algorithm;
  BatchStatistics statistics = BatchStatistics::Global;
  BucketOptions buckets;
  /// Bytes of weights that are gathered before anybody reads them, and of
  /// gradients that wait to be scattered (ZeRO-2 and 3).
  int64_t gatherWindow = dist::kGatherWindow;
  /// The ranks are the workers of a server, which is one more: they exchange
  /// nothing, and each returns its term of the loss.
  bool hasServer = false;
  /// Steps that a worker may be ahead of the slowest.
  int64_t staleness = 0;

  /// The same for the compiler.
  DistributePlan plan() const;

  /// What a checkpoint depends on, a line each; empty where it does not.
  std::string describe() const;
  /// All of it, that ranks may see whether they were told the same.
  std::string all() const;
  /// Whether some of it is left to an engine.
  bool usesOwn() const { return algorithm.empty() || algorithm == "own"; }
};

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
  llvm::Expected<Distribution> distribution(int64_t ranks) const;
  /// Of --ranks: 1 where nothing is said.
  int64_t givenRanks() const { return std::max(1u, ranks.getValue()); }

private:
  llvm::Error refuseAlone() const;
  llvm::Error refuseBesideServer() const;
  llvm::Error checkNames(bool &hasServer) const;

  llvm::cl::opt<std::string> engine;
  llvm::cl::opt<unsigned> ranks;
  llvm::cl::opt<double> timeout;
  llvm::cl::opt<unsigned> groups;
  llvm::cl::opt<unsigned> zero;
  llvm::cl::opt<std::string> algorithm;
  llvm::cl::opt<int64_t> staleness;
  llvm::cl::opt<BatchStatistics> statistics;
  llvm::cl::opt<BucketRule> fusion;
  llvm::cl::opt<int64_t> bucketBytes, firstBucketBytes, gatherWindow;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DISTRIBUTION_H
