//===- Samples.h - Samples, in an order set by a seed -----------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_SAMPLES_H
#define MLC_RUNTIME_TRAIN_SAMPLES_H

#include "runtime/Training.h"
#include "runtime/train/BatchSource.h"
#include "runtime/train/Option.h"

namespace mlc::runtime::train {

/// The samples of a batch that a rank takes.
struct SamplePart {
  int64_t batch = 0; ///< samples over all ranks
  int64_t begin = 0, end = 0;
};

/// Arrays of samples, one for each input, whose first dim is the sample.
class Samples {
public:
  /// Reads the arrays named after the inputs of `training` from a .npz file.
  /// Fails for an array that is missing or of another type or dims, unequal
  /// numbers of samples or fewer than a batch, NaN unless the model takes it,
  /// and labels that are not classes.
  static Status read(const std::string &path, const Training &training,
                     Spelling spelling, Samples &samples);

  /// The same for arrays in the order of the inputs of `training`.
  static Status of(std::vector<HostTensor> arrays, const Training &training,
                   Samples &samples);

  int64_t size() const { return count; }
  int64_t batch() const { return batchSize; }
  const HostTensor &array(size_t i) const { return arrays[i]; }
  /// BLAKE3 of the arrays, in hexadecimal.
  const std::string &hash() const { return digest; }
  /// Array `i` for messages: "'x'", after the file's name if there is one.
  std::string describe(size_t i) const;
  size_t numArrays() const { return arrays.size(); }
  /// An error unless `training` takes the same batches as the one that the
  /// samples were checked for.
  Status checkFor(const Training &training) const;

private:
  Status add(const NpzFile &file, const SamplePort &port, Spelling spelling);
  Status add(const SamplePort &port, HostTensor array);
  Status finish(const Training &training);
  std::string where(const std::string &text) const;

  std::vector<HostTensor> arrays;
  std::vector<std::string> names;
  int64_t count = 0, batchSize = 0;
  std::string path, digest;
  /// Describes the batches of the training they were read for; see checkFor.
  std::string takenBy;
};

/// An error if the batch size is 0 or unknown, or not the first dim of each
/// input.
Status checkBatch(const Training &training, Spelling spelling);

/// An error unless every label is less than `classes`; `name` is the array's
/// name.
Status checkLabels(const HostTensor &labels, int64_t classes,
                   const std::string &name);

/// Batches of samples. An epoch uses every sample at most once, in an order
/// that the seed and the epoch determine, and drops an incomplete last batch.
class SampleOrder : public BatchSource {
public:
  /// `samples` outlives it; `labels` is the array that holds labels, if any.
  SampleOrder(const Samples &samples, const SamplePart &part, uint64_t seed,
              std::optional<uint32_t> labels)
      : samples(&samples), part(part), seed(seed), labels(labels) {}

  Status fill(int64_t number, const std::vector<HostTensor> &batch) override;
  int64_t countLabels(int64_t number) const override;
  std::string findInfinite(int64_t number) const override;
  /// Batches of an epoch.
  int64_t batches() const { return samples->size() / part.batch; }

private:
  const int64_t *find(int64_t number) const;

  const Samples *samples;
  SamplePart part;
  uint64_t seed;
  std::optional<uint32_t> labels;
  /// The order of the last requested epoch.
  mutable std::vector<int64_t> order;
  mutable int64_t orderedEpoch = -1;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_SAMPLES_H
