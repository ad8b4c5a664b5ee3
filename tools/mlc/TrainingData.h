//===- TrainingData.h - Samples, in an order that a seed gives --*- C++ -*-===//

#ifndef MLC_TOOLS_MLC_TRAININGDATA_H
#define MLC_TOOLS_MLC_TRAININGDATA_H

#include "tools/mlc/Feed.h"

namespace mlc::cli {

/// The samples of a batch that one of several ranks takes.
struct SamplePart {
  int64_t batch = 0; ///< samples of all ranks
  int64_t begin = 0, end = 0;
};

/// An input that samples are of, before the model is compiled.
struct SamplePort {
  std::string name;
  mlc_dtype type;
  std::vector<int64_t> dims;      ///< -1: open
  std::vector<std::string> texts; ///< of the dims
};

/// Arrays of samples, one for each input, whose first dim is the sample.
class TrainingData {
public:
  /// Those of the .npz file that are called as `ports`, which are what a batch
  /// of `batch` samples is made of. Errors: an array that is missing, of
  /// another type or of other dims; unequal numbers of samples, or fewer than a
  /// batch; NaN, unless it `takesNaN`.
  static llvm::Expected<TrainingData> read(const std::string &path,
                                           llvm::ArrayRef<SamplePort> ports,
                                           int64_t batch, bool takesNaN);
  /// The same arrays, of which one rank takes a part of each batch.
  TrainingData forPart(const SamplePart &part) const;

  int64_t samples() const { return count; }
  /// Of all ranks.
  int64_t batch() const { return part.batch; }
  const HostTensor &array(size_t i) const { return arrays[i]; }
  /// Where an array that a batch of step `step` has is infinite, or has NaN, as
  /// "'x' of sample 7"; empty where all are finite.
  std::string findInfinite(uint64_t seed, int64_t step) const;
  /// BLAKE3 of the arrays, in hexadecimal.
  const std::string &hash() const { return digest; }

  /// Fills `batch`, one tensor per port, with the part's samples of step `step`
  /// (from 0). The steps of an epoch take every sample at most once, in an
  /// order that `seed` and the epoch decide; what is left of it is not enough
  /// for a batch.
  void fill(uint64_t seed, int64_t step, llvm::ArrayRef<HostTensor> batch);
  /// How many labels of that step count, of all ranks together: those of array
  /// `i`, of int64, that are not negative.
  int64_t countLabels(uint64_t seed, int64_t step, size_t i) const;

private:
  const int64_t *find(uint64_t seed, int64_t step) const;

  std::vector<HostTensor> arrays;
  std::vector<std::string> names;
  int64_t count = 0;
  SamplePart part;
  std::string digest;
  /// The order of the epoch that was asked for last.
  mutable std::vector<int64_t> order;
  mutable int64_t orderedEpoch = -1;
};

} // namespace mlc::cli

#endif // MLC_TOOLS_MLC_TRAININGDATA_H
