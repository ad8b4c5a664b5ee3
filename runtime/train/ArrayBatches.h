//===- ArrayBatches.h - Batches from the caller's arrays --------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_ARRAYBATCHES_H
#define MLC_RUNTIME_TRAIN_ARRAYBATCHES_H

#include "runtime/train/Samples.h"

namespace mlc::runtime::train {

/// The batches of one step; each input has a tensor with the samples of all
/// ranks.
class ArrayBatches : public BatchSource {
public:
  /// `tensors` has those of `count` batches and must outlive it. Fails if a
  /// type or dims differ from the inputs', or a label is not a class.
  static Status make(const Training &training, const mlc_tensor *tensors,
                     int64_t count, const SamplePart &part,
                     std::optional<ArrayBatches> &batches);

  Status fill(int64_t number, const std::vector<HostTensor> &batch) override;
  int64_t countLabels(int64_t number) const override;
  std::string findInfinite(int64_t number) const override;

private:
  ArrayBatches(const Training &training, const mlc_tensor *tensors,
               int64_t count, const SamplePart &part)
      : training(&training), tensors(tensors), count(count), part(part) {}
  const mlc_tensor *find(int64_t number) const {
    return tensors + number % count * training->samples.size();
  }

  const Training *training;
  const mlc_tensor *tensors;
  int64_t count;
  SamplePart part;
};

/// A non-owning tensor over the caller's memory.
HostTensor viewOf(const mlc_tensor &tensor);
/// An error unless the tensor is dense and has the port's type and dims. The
/// first dim, the number of samples, must be `samples`; -1: any.
Status checkTensor(const mlc_tensor &tensor, const SamplePort &port,
                   int64_t samples);

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_ARRAYBATCHES_H
