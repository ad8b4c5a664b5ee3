//===- EntryTimes.h - What entries take on a mesh ---------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_ENTRYTIMES_H
#define MLC_TOOLS_MLC_ENTRYTIMES_H

#include "mlir/IR/Region.h"
#include "runtime/Step.h"
#include "simulator/cluster/CollectiveCall.h"
#include "simulator/cluster/Network.h"
#include "tools/mlc/DeviceCosts.h"
#include <map>

namespace mlc::cli {

/// Times and bytes of the entries of a rank's program: operators by the cost
/// model, collectives by the links of a cluster.
class EntryTimes {
public:
  /// `mesh` has the axes of the program's collectives, in the order in which
  /// they number the cluster's ranks. `algorithm` is the plan's; empty: the
  /// engine's own. All outlive this.
  EntryTimes(const DeviceCosts &costs, const simulator::Network &network,
             llvm::ArrayRef<runtime::MeshAxis> mesh, llvm::StringRef algorithm)
      : costs(costs), network(network), mesh(mesh), algorithm(algorithm) {}

  /// What an entry takes on the slowest of some ranks, which run it alike: it
  /// computes in program order, and a collective begins when its operands are
  /// there and the one before it has ended, as the runtime does. Fails for an
  /// algorithm that the ranks of an axis cannot have.
  llvm::Expected<simulator::Time> time(mlir::Region &entry,
                                       llvm::ArrayRef<int64_t> ranks) const;
  /// The bytes that the rank sends in the entry's collectives; those of the
  /// engine's own as a ring sends them.
  llvm::Expected<int64_t> sentBytes(mlir::Region &entry, int64_t rank) const;

  /// The ranks that agree with `rank` in all coordinates but those of the axis.
  std::vector<int> groupOf(llvm::StringRef axis, int64_t rank) const;

private:
  int countSharing(llvm::StringRef axis, int64_t rank) const;
  bool findCall(mlir::Operation *op, int64_t rank,
                simulator::CollectiveCall &call) const;
  llvm::Expected<simulator::Time> timeOn(mlir::Region &entry,
                                         int64_t rank) const;
  llvm::Expected<simulator::Time> timeOfCollective(mlir::Operation *op,
                                                   int64_t rank) const;
  simulator::Time timeOfNeighbours(mlir::Operation *collective,
                                   int64_t rank) const;

  const DeviceCosts &costs;
  const simulator::Network &network;
  llvm::ArrayRef<runtime::MeshAxis> mesh;
  llvm::StringRef algorithm;
  /// What countSharing() has counted.
  mutable std::map<std::pair<std::string, int>, int> sharing;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_ENTRYTIMES_H
