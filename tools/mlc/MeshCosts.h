//===- MeshCosts.h - What a program of ranks takes --------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MESHCOSTS_H
#define MLC_TOOLS_MLC_MESHCOSTS_H

#include "mlir/IR/BuiltinOps.h"
#include "rewrites/Cost/Cost.h"
#include "runtime/Step.h"
#include "simulator/cluster/Network.h"
#include <map>

namespace mlc::cli {

/// Prices the operators of a rank's program, its exchanges over the links of a
/// cluster. They run one after the other.
class MeshCosts {
public:
  /// Ranks are numbered with the last axis of the mesh changing fastest.
  MeshCosts(const simulator::Cluster &cluster,
            std::vector<runtime::MeshAxis> mesh)
      : network(cluster), mesh(std::move(mesh)) {}

  /// The seconds of an exchange along an axis, while all groups do the same:
  /// of the whole tensor's bytes for gathers and reductions, and of the bytes
  /// that a rank has for an all-to-all. It is the engine's own where the
  /// cluster says what that takes, and else a ring.
  double exchange(llvm::StringRef axis,
                  runtime::transport::Collective collective, double bytes);
  /// Of an operator, which may be an exchange.
  double seconds(mlir::Operation *op, const CostModel &cost);

  struct Sum {
    double computing = 0, exchanging = 0;
    int64_t exchanges = 0;
    /// What a rank gives its exchanges.
    double bytes = 0;
    double seconds() const { return computing + exchanging; }
  };
  /// Of all functions of a module.
  Sum sum(mlir::ModuleOp module, const CostModel &cost);

private:
  simulator::Network network;
  std::vector<runtime::MeshAxis> mesh;
  std::map<std::tuple<std::string, int, int64_t>, double> known;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MESHCOSTS_H
