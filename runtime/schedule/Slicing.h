//===- Slicing.h - How long slices of a sequence are ------------*- C++ -*-===//
//
// TeraPipe (Li et al. 2021) cuts sequences into slices that stages work on at
// the same time. A later slice takes longer than an earlier one, for its tokens
// look at all before them, so equal slices are not the best ones.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_SCHEDULE_SLICING_H
#define MLC_RUNTIME_SCHEDULE_SLICING_H

#include "runtime/Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace mlc::runtime::schedule {

struct SlicingOptions {
  /// Tokens of a sequence.
  int64_t tokens = 0;
  /// Stages of the pipeline, and sequences that follow each other in it.
  int64_t stages = 1, microBatches = 1;
  /// Slices are multiples of so many tokens; what is left over is added to the
  /// last one.
  int64_t granularity = 1;
  /// The time that a stage takes for a slice of `length` tokens after `context`
  /// others. At least 0, and finite.
  std::function<double(int64_t length, int64_t context)> time;
};

struct Slicing {
  /// From the first to the last; their sum is the number of tokens.
  std::vector<int64_t> lengths;
  /// microBatches times the sum of the slices' times, and stages - 1 times the
  /// longest: until the last stage is done.
  double time = 0;
};

/// Finds slices of least time. With equal times it takes those with the shorter
/// longest slice. Takes memory for (tokens / granularity)^2 times, and
/// as many steps for each longest slice that it tries. MLC_USAGE for
/// sizes below 1, more than 4096 units of granularity, or a time that is none.
Status findSlices(const SlicingOptions &options, Slicing &slicing);

} // namespace mlc::runtime::schedule

#endif // MLC_RUNTIME_SCHEDULE_SLICING_H
