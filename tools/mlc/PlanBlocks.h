//===- PlanBlocks.h - A step as blocks that stages are made of --*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_PLANBLOCKS_H
#define MLC_TOOLS_MLC_PLANBLOCKS_H

#include "simulator/cluster/Network.h"
#include "simulator/timeline/StepCosts.h"
#include "tools/mlc/PlanRequest.h"
#include "llvm/ADT/StringSet.h"

namespace mlc::cli {

/// A step of the model as blocks, for micro-batches of one size.
struct Blocks {
  std::vector<simulator::StepCosts> costs; ///< for each kind of device
  simulator::StepMemory memory;
  std::vector<size_t> kinds; ///< of the cluster's ranks
  /// The nodes that all blocks but the last end with.
  std::vector<std::string> ends;
  /// The batch that the model has itself; 0: it is open.
  int64_t batch = 0;
  /// A node whose result other blocks read.
  struct Crossing {
    std::string node;
    int64_t block = 0;
    std::vector<int64_t> readers;
  };
  std::vector<Crossing> crossings;

  /// Operators of the step.
  int64_t operators = 0;

  /// The slowest kind of some ranks.
  size_t slowest(llvm::ArrayRef<int64_t> ranks) const;
  /// The same, as backward passes compute their blocks' forward passes again:
  /// the whole of it, from the results of other blocks.
  Blocks recomputing() const;
  /// What a step of another size takes, on a line through this one and `other`,
  /// which are 0 and 1; nothing if they do not have the same parts.
  std::optional<Blocks> between(const Blocks &other, double place) const;
  /// Nodes whose results backward passes have to find, if blocks below
  /// `ends[0]`, below `ends[1]`, ... are stages.
  std::vector<std::string> kept(llvm::ArrayRef<size_t> ends) const;
};

/// Reads the model as blocks, once for each size.
class BlockReader {
public:
  /// Blocks end with the nodes `ends`, if there are any.
  BlockReader(const PipelineRequest &request, const simulator::Network &network,
              std::vector<std::string> ends = {})
      : request(request), network(network), ends(std::move(ends)) {}

  /// Tells which micro-batches will be read, in ascending order. Of a large
  /// model some are read, and others are taken to lie between them.
  void expect(std::vector<int64_t> all) { expected = std::move(all); }
  /// As blocks for micro-batches of so many samples (0: as many as the model
  /// has; an open batch then gives no costs), on so many ranks that have parts
  /// of the weights. Without blocks for a model of one node, and for parts that
  /// nothing is split into.
  llvm::Expected<const Blocks *> read(int64_t batch, int64_t parts);
  /// How weights and tensors are split into so many parts; empty for 1.
  llvm::Expected<const std::vector<runtime::TensorSharding> *>
  shardings(int64_t parts, int64_t batch);

private:
  llvm::Expected<Blocks> make(int64_t batch, int64_t parts);
  llvm::Expected<std::optional<Blocks>> interpolate(int64_t batch,
                                                    int64_t parts);
  llvm::Error readCosts(mlir::ModuleOp module, Compilation &compilation,
                        int64_t parts, Blocks &blocks) const;

  const PipelineRequest &request;
  const simulator::Network &network;
  const std::vector<std::string> ends;
  std::map<std::pair<int64_t, int64_t>, Blocks> known;
  std::map<int64_t, std::vector<runtime::TensorSharding>> splits;
  std::vector<int64_t> expected;
  /// Nodes and weights of layers that are like others, which are not read,
  /// by batch.
  std::map<int64_t, llvm::StringSet<>> leftOut;
};

/// What stages that end with the nodes `ends`, one at least, compute forward
/// and back on the cluster's first rank, for so many samples (0: the model's).
llvm::Expected<std::vector<simulator::Time>>
readStageTimes(const PipelineRequest &request,
               const simulator::Cluster &cluster, int64_t batch,
               llvm::ArrayRef<std::string> ends);

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_PLANBLOCKS_H
