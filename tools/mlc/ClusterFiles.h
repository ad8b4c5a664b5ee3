//===- ClusterFiles.h - Cluster files of commands ---------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_CLUSTERFILES_H
#define MLC_TOOLS_MLC_CLUSTERFILES_H

#include "simulator/cluster/Cluster.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mlc::cli {

/// A cluster by the path of its file or "cluster:NAME". Errors name the file;
/// targets that devices name exist.
llvm::Expected<simulator::Cluster> openCluster(const std::string &name);

/// Prints a cluster: devices, nodes, levels of links, and what an all-reduce of
/// `bytes` takes by each algorithm, on `ranks` ranks or, without them, on
/// several numbers of them. Where there is no time, it says why.
llvm::Error printCluster(const simulator::Cluster &cluster, int64_t bytes,
                         std::optional<int> ranks, bool asJson);

/// What fitting constants to measured iterations is told.
struct FitRequest {
  std::string cluster;
  std::vector<std::string> iterations; ///< CSV files
  double holdout = 0.8;
  uint64_t seed = 0;
  std::string output; ///< of the fitted cluster; empty: none
  bool asJson = false;
};

/// Fits the cluster's constants to the iterations and prints them, with the
/// errors on those that were held out.
llvm::Error fitCluster(const FitRequest &request);

struct LinkRequest {
  std::string cluster;      ///< whose first device the ranks have
  std::optional<int> ranks; ///< threads; or as many as the cluster has
  std::string output;       ///< empty: standard output
};

/// Measures what the ranks of a launcher, or threads of this process, take for
/// all-reduces of 16 MiB and of a few bytes, and writes a cluster of one level
/// whose rings take as long.
llvm::Error measureLinks(const LinkRequest &request);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_CLUSTERFILES_H
