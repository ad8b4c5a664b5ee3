//===- Group.h - The ranks that train together ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_GROUP_H
#define MLC_RUNTIME_TRAIN_GROUP_H

#include "runtime/HostTensor.h"
#include "runtime/Ranks.h"

namespace mlc::runtime::train {

/// This rank among those that train together: one alone, or all of an engine.
/// Functions that exchange are called by all ranks in the same order, and not
/// during a run.
class Group {
public:
  Group() = default;
  explicit Group(std::shared_ptr<Ranks> ranks) : ranks(std::move(ranks)) {}

  int rank() const { return ranks ? ranks->rank() : 0; }
  int size() const { return ranks ? ranks->size() : 1; }
  bool isFirst() const { return rank() == 0; }
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const { return ranks ? ranks->sentBytes() : 0; }
  /// Null where there is one alone.
  const std::shared_ptr<Ranks> &get() const { return ranks; }

  /// This rank's part of `extent` things.
  PartRange partOf(int64_t extent) const {
    return partRange(extent, size(), rank());
  }
  /// The numbers of all ranks, as many of each, in the ranks' order.
  Status gather(const std::vector<int64_t> &numbers,
                std::vector<int64_t> &all) const;
  /// An error, on all ranks, unless all have the same `text`; `what` says what
  /// it is, and `remedy` what to do.
  Status agree(const std::string &text, const std::string &what,
               const std::string &remedy) const;

  /// This rank's part of the whole of a state of an artifact with this mesh.
  Status split(const std::vector<MeshAxis> &mesh, const State &state,
               const HostTensor &whole, HostTensor &part) const;
  /// On the first rank, the tensor of which each has a part; `part` on the
  /// others.
  Status join(const std::vector<MeshAxis> &mesh, const State &state,
              const HostTensor &part, HostTensor &whole) const;

private:
  std::shared_ptr<Ranks> ranks;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_GROUP_H
