//===- BatchSource.h - Where batches come from ------------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_BATCHSOURCE_H
#define MLC_RUNTIME_TRAIN_BATCHSOURCE_H

#include "runtime/HostTensor.h"

#include <string>
#include <vector>

namespace mlc::runtime::train {

/// Batches by their number over the whole training, from 0.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// Fills `batch`, a tensor for each input of samples, with this rank's shard
  /// of batch `number`.
  virtual Status fill(int64_t number, const std::vector<HostTensor> &batch) = 0;
  /// How many labels of that batch count, over all ranks.
  virtual int64_t countLabels(int64_t number) const = 0;
  /// Where that batch has a number that is not finite, as "'x' of sample 7";
  /// empty if nowhere.
  virtual std::string findInfinite(int64_t number) const = 0;
};

/// The first of `count` elements from `begin` on that is not finite, or with
/// `isNaN`, that is NaN; -1 if there is none, as for integers.
int64_t findNotFinite(const HostTensor &tensor, size_t begin, size_t count,
                      bool isNaN);
/// How many of `count` elements are not negative.
int64_t countNotNegative(const int64_t *labels, size_t count);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_BATCHSOURCE_H
