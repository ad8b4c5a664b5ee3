//===- MeshFlags.h - How a model is split over ranks ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MESHFLAGS_H
#define MLC_TOOLS_MLC_MESHFLAGS_H

#include "tools/mlc/ForwardFlags.h"
#include "tools/mlc/PlanFlag.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace onnx {
class GraphProto;
}

namespace mlc::cli {

/// Adds the axes of --mesh, and the sharding of a --shard beside that mesh, to
/// a plan. Errors name the flags.
llvm::Error addAxes(llvm::StringRef mesh, runtime::Plan &plan);
llvm::Error addSharding(llvm::StringRef text, llvm::StringRef mesh,
                        runtime::Plan &plan);

/// `--mesh`, `--shard`, `--algorithm` and `--plan`: one program for the ranks
/// of a mesh (docs/Partitioning.md); and the flags of stages, each of which
/// ranks of its own run.
class MeshFlags {
public:
  explicit MeshFlags(llvm::cl::SubCommand &sub);

  bool isGiven() const {
    return !mesh.empty() || planFlag.isGiven() || forward.isGiven();
  }
  /// Whether --print-plan is given: only print the plan.
  bool prints() const { return planFlag.prints(); }
  const MemoryBudget &getBudget() const { return planFlag.getBudget(); }

  /// Reads the flags. Fails for malformed texts, unknown axes, too many ranks
  /// of an axis, an axis used twice in one tensor, and shardings without a
  /// mesh.
  llvm::Error check();

  /// The weights of `graph` that --shard names and `parameters` does not. NAME*
  /// matches float weights that have all the dims that it splits. Fails for a
  /// name that is not in the graph; `file` is the graph's.
  llvm::Expected<std::vector<std::string>>
  weightsOf(const onnx::GraphProto &graph, llvm::StringRef file,
            llvm::ArrayRef<std::string> parameters) const;

  /// The plan for the compiler. The weights that --shard names must be
  /// parameters of the module.
  const runtime::Plan &plan() const { return made; }

  /// The flags that determine the plan, for the manifest.
  std::vector<std::string> texts() const;

private:
  PlanFlag planFlag;
  llvm::cl::opt<std::string> mesh;
  llvm::cl::list<std::string> shards;
  llvm::cl::opt<std::string> algorithm;
  ForwardFlags forward;
  runtime::Plan made;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MESHFLAGS_H
