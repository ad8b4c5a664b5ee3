//===- Group.h - The ranks that train together ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_GROUP_H
#define MLC_RUNTIME_TRAIN_GROUP_H

#include "runtime/HostTensor.h"
#include "runtime/Ranks.h"

namespace mlc::runtime::train {

/// This rank among those that train together: a single one, or all of an
/// engine. All ranks must call communicating functions in the same order, and
/// not during a run.
class Group {
public:
  Group() = default;
  explicit Group(std::shared_ptr<Ranks> ranks) : ranks(std::move(ranks)) {}

  int rank() const { return ranks ? ranks->rank() : 0; }
  int size() const { return ranks ? ranks->size() : 1; }
  bool isFirst() const { return rank() == 0; }
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const { return ranks ? ranks->sentBytes() : 0; }
  /// Null for a single rank.
  const std::shared_ptr<Ranks> &get() const { return ranks; }

  /// This rank's part of `extent` items.
  PartRange partOf(int64_t extent) const {
    return partRange(extent, size(), rank());
  }
  /// Gathers the numbers of all ranks, equally many from each, in rank order.
  Status gather(const std::vector<int64_t> &numbers,
                std::vector<int64_t> &all) const;
  /// Gives all ranks the elements of rank `root`.
  Status broadcast(HostTensor &tensor, int root) const;
  /// An error on all ranks unless all have the same `text`. `what` names it,
  /// and `remedy` says what to do.
  Status agree(const std::string &text, const std::string &what,
               const std::string &remedy) const;

  /// Cuts this rank's shard of a state from the whole.
  Status split(const std::vector<MeshAxis> &mesh, const State &state,
               const HostTensor &whole, HostTensor &part) const;
  /// Joins the shards of a state: rank 0 gets the whole tensor, others `part`.
  Status join(const std::vector<MeshAxis> &mesh, const State &state,
              const HostTensor &part, HostTensor &whole) const;

private:
  /// A collective of one message over all ranks.
  Status run(const CollectiveCall &call, const void *input, void *output) const;

  std::shared_ptr<Ranks> ranks;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_GROUP_H
