//===- TrainingRanks.h - The ranks that train together ----------*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGRANKS_H
#define MLC_TOOLS_MLC_TRAININGRANKS_H

#include "runtime/Ranks.h"
#include "tools/mlc/Feed.h"

namespace mlc::cli {

/// What a status says, with its own exit code.
llvm::Error statusFailure(const runtime::Status &status);

/// This rank among those that train together: one alone, or all of an engine.
/// Functions that exchange are called by all ranks in the same order, and not
/// during a run.
class TrainingRanks {
public:
  TrainingRanks() = default;
  explicit TrainingRanks(std::shared_ptr<runtime::Ranks> ranks)
      : ranks(std::move(ranks)) {}

  int rank() const { return ranks ? ranks->rank() : 0; }
  int size() const { return ranks ? ranks->size() : 1; }
  bool isFirst() const { return rank() == 0; }
  /// Bytes that this rank has sent.
  uint64_t bytesSent() const { return ranks ? ranks->sentBytes() : 0; }
  /// Null where there is one alone.
  const std::shared_ptr<runtime::Ranks> &get() const { return ranks; }

  /// This rank's part of `extent` things.
  runtime::PartRange partOf(int64_t extent) const {
    return runtime::partRange(extent, size(), rank());
  }
  /// Of a tensor with dims `whole`, along `dim`.
  std::vector<runtime::PartRange> partOf(llvm::ArrayRef<int64_t> whole,
                                         unsigned dim) const;
  /// A copy of this rank's part of `whole` along `dim`.
  llvm::Expected<HostTensor> split(const HostTensor &whole, unsigned dim) const;
  /// On the first rank, the tensor of which each has a part along `dim`; `part`
  /// on the others.
  llvm::Expected<HostTensor> join(llvm::StringRef name, const HostTensor &part,
                                  unsigned dim) const;
  /// The numbers of all ranks, as many of each, in the ranks' order.
  llvm::Expected<std::vector<int64_t>>
  gather(llvm::ArrayRef<int64_t> numbers) const;
  /// An error, on all ranks, unless all have the same `text`; `what` says what
  /// it is, and `remedy` what to do.
  llvm::Error agree(llvm::StringRef text, const llvm::Twine &what,
                    const llvm::Twine &remedy) const;

private:
  std::vector<runtime::MeshAxis> mesh() const;

  std::shared_ptr<runtime::Ranks> ranks;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGRANKS_H
