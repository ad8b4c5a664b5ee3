//===- StageSums.h - Gradients of stages on several ranks -------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_STAGESUMS_H
#define MLC_RUNTIME_TRAIN_STAGESUMS_H

#include "runtime/train/Program.h"
#include "runtime/train/Stages.h"

namespace mlc::runtime::train {

/// Adds up the gradients of a stage over the ranks that have it: the first rank
/// adds those of the others in their order, and sends the sums back.
class StageSums {
public:
  /// `session` has the states; all of them live as long as this.
  void open(const Artifact &artifact, const Stages &stages, Ranks *ranks,
            mlc_session *session);
  /// All ranks of the stage call this together.
  Status reduce(int64_t stage);

  uint64_t allocations() const { return allocationCount; }
  /// Bytes of the memory for sums.
  uint64_t bytes() const;

private:
  Status reduceState(size_t state, const std::vector<int> &having);
  Status send(int to, const std::string &name, HostTensor &tensor);
  Status receive(int from, const std::string &name, HostTensor &tensor);

  const Artifact *artifact = nullptr;
  const Stages *stages = nullptr;
  Ranks *ranks = nullptr;
  mlc_session *session = nullptr;
  /// By state: its own sum, and another rank's.
  std::vector<std::pair<HostTensor, HostTensor>> memory;
  uint64_t allocationCount = 0;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_STAGESUMS_H
