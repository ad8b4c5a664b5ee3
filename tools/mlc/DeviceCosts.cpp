//===- DeviceCosts.cpp - The cost model of each rank's device -------------===//

#include "tools/mlc/DeviceCosts.h"

using namespace mlc;
using namespace mlc::cli;

void mlc::cli::takeTarget(const simulator::Cluster &cluster,
                          ModelOptions &model) {
  const std::string &target = cluster.deviceOf(0).target;
  if (model.target.getNumOccurrences() == 0 && !target.empty())
    model.target = target;
}

llvm::Expected<DeviceCosts>
DeviceCosts::make(const Compilation &compilation, const ModelOptions &options,
                  const simulator::Cluster &cluster) {
  DeviceCosts costs(cluster);
  std::vector<std::string> names;
  const bool isGiven = options.target.getNumOccurrences() > 0;
  for (const simulator::Device &device : cluster.devices) {
    const std::string name = isGiven ? "" : device.target;
    auto known = llvm::find(names, name);
    costs.kinds.push_back(known - names.begin());
    if (known != names.end())
      continue;
    names.push_back(name);
    if (name.empty() || name == options.target) {
      costs.models.push_back(compilation.makeCostModel());
      continue;
    }
    auto target = parseTargetOption(name);
    if (!target)
      return target.takeError();
    costs.models.push_back(
        compilation.makeCostModel({*target, findBackend(*target)}));
  }
  return costs;
}

size_t DeviceCosts::kindOf(int64_t rank) const {
  return kinds[&cluster->deviceOf(int(rank)) - cluster->devices.data()];
}
