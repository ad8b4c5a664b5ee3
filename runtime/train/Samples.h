//===- Samples.h - Samples, in an order that a seed gives -------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRAIN_SAMPLES_H
#define MLC_RUNTIME_TRAIN_SAMPLES_H

#include "runtime/Training.h"
#include "runtime/train/BatchSource.h"
#include "runtime/train/Option.h"

namespace mlc::runtime::train {

/// The samples of a batch that one of several ranks takes.
struct SamplePart {
  int64_t batch = 0; ///< samples of all ranks
  int64_t begin = 0, end = 0;
};

/// Arrays of samples, one for each input, whose first dim is the sample.
class Samples {
public:
  /// Those of the .npz file that are called as `training` calls its inputs.
  /// Errors: an array that is missing, of another type or of other dims;
  /// unequal numbers of samples, or fewer than a batch; NaN, unless the model
  /// takes it; labels that are no class.
  static Status read(const std::string &path, const Training &training,
                     Spelling spelling, Samples &samples);

  /// The same of arrays that are those of `training`'s inputs.
  static Status of(std::vector<HostTensor> arrays, const Training &training,
                   Samples &samples);

  int64_t size() const { return count; }
  int64_t batch() const { return batchSize; }
  const HostTensor &array(size_t i) const { return arrays[i]; }
  /// BLAKE3 of the arrays, in hexadecimal.
  const std::string &hash() const { return digest; }
  /// As messages have it: "'x'", behind the file's name if there is one.
  std::string describe(size_t i) const;
  size_t numArrays() const { return arrays.size(); }
  /// An error unless batches of them are what `training` takes: they were
  /// checked for one that takes the same.
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
  /// Of the training that they were read for, see checkFor.
  std::string takenBy;
};

/// An error where a batch has no samples, or nobody says how many.
Status checkBatch(const Training &training, Spelling spelling);

/// An error unless every label is less than `classes`; `name` is the array's.
Status checkLabels(const HostTensor &labels, int64_t classes,
                   const std::string &name);

/// Batches of samples. Those of an epoch have every sample at most once, in an
/// order that the seed and the epoch decide; what is left of it is not enough
/// for a batch.
class SampleOrder : public BatchSource {
public:
  /// `samples` outlives it; `labels` is the array that holds labels, if any.
  SampleOrder(const Samples &samples, const SamplePart &part, uint64_t seed,
              std::optional<uint32_t> labels)
      : samples(&samples), part(part), seed(seed), labels(labels) {}

  Status fill(int64_t number, const std::vector<HostTensor> &batch) override;
  int64_t countLabels(int64_t number) const override;
  std::string findInfinite(int64_t number) const override;
  /// Of an epoch.
  int64_t batches() const { return samples->size() / part.batch; }

private:
  const int64_t *find(int64_t number) const;

  const Samples *samples;
  SamplePart part;
  uint64_t seed;
  std::optional<uint32_t> labels;
  /// The order of the epoch that was asked for last.
  mutable std::vector<int64_t> order;
  mutable int64_t orderedEpoch = -1;
};

} // namespace mlc::runtime::train

#endif // MLC_RUNTIME_TRAIN_SAMPLES_H
