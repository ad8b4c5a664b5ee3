//===- MeshFlags.h - How a model is split over ranks ------------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_MESHFLAGS_H
#define MLC_TOOLS_MLC_MESHFLAGS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>

namespace onnx {
class GraphProto;
}

namespace mlc::cli {

/// `--mesh`, `--shard` and `--algorithm`: one program for the ranks of a mesh
/// (docs/Partitioning.md).
class MeshFlags {
public:
  explicit MeshFlags(llvm::cl::SubCommand &sub);

  bool isGiven() const { return !mesh.empty(); }

  /// Reads them. Errors: texts of another form, axes that are none, axes with
  /// more ranks than there may be, an axis twice in one tensor, and shardings
  /// without a mesh.
  llvm::Error check();

  /// The weights of `graph` that --shard names and `parameters` does not. Of a
  /// NAME* they are those of floats that have all the dims that it splits.
  /// Errors: a name that nothing of the graph has; `file` is its.
  llvm::Expected<std::vector<std::string>>
  weightsOf(const onnx::GraphProto &graph, llvm::StringRef file,
            llvm::ArrayRef<std::string> parameters) const;

  /// Makes of a model what a rank carries out. Weights that --shard names are
  /// parameters of `module`; they become states, of which each rank has its
  /// part. Emits the error: a tensor with fewer dims than are split, an input
  /// that cannot be split.
  mlir::LogicalResult apply(mlir::ModuleOp module) const;

  /// The flags as given: for the manifest.
  std::vector<std::string> texts() const;

private:
  struct Axis {
    std::string name;
    int64_t ranks;
  };
  struct Sharding {
    std::string pattern;
    /// An axis for each dim, or none; further dims are whole.
    std::vector<std::string> axes;
  };

  llvm::Error readMesh();
  llvm::Error readSharding(llvm::StringRef text);
  /// Of those that name it, the last.
  const Sharding *find(llvm::StringRef name) const;
  mlir::LogicalResult shard(mlir::ModuleOp module) const;

  llvm::cl::opt<std::string> mesh;
  llvm::cl::list<std::string> shards;
  llvm::cl::opt<std::string> algorithm;
  std::vector<Axis> axes;
  std::vector<Sharding> shardings;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_MESHFLAGS_H
