//===- DeviceCosts.h - The cost model of each rank's device -----*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_DEVICECOSTS_H
#define MLC_TOOLS_MLC_DEVICECOSTS_H

#include "simulator/cluster/Cluster.h"
#include "tools/mlc/Build.h"
#include <deque>

namespace mlc::cli {

/// Lets the first device of a cluster price operators, unless --target is
/// given.
void takeTarget(const simulator::Cluster &cluster, ModelOptions &model);

/// Prices operators on the devices of a cluster, by the targets that it names.
class DeviceCosts {
public:
  /// A device without a target is priced as the compilation's, and so are all
  /// if --target is given. `compilation` and `cluster` outlive this. Fails for
  /// targets that are unknown.
  static llvm::Expected<DeviceCosts> make(const Compilation &compilation,
                                          const ModelOptions &options,
                                          const simulator::Cluster &cluster);

  /// That of a rank of the cluster.
  const CostModel &of(int64_t rank) const { return models[kindOf(rank)]; }
  /// Ranks of one kind take equally long.
  size_t kindOf(int64_t rank) const;

private:
  explicit DeviceCosts(const simulator::Cluster &cluster) : cluster(&cluster) {}

  const simulator::Cluster *cluster;
  std::deque<CostModel> models;
  std::vector<size_t> kinds; ///< of the cluster's devices
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_DEVICECOSTS_H
