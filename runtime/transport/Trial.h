//===- Trial.h - A collective tried out -------------------------*- C++ -*-===//
//
// What `mlc collective` does: an all-reduce of numbers that every rank knows,
// whose result every rank checks, and whose bytes are counted.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_TRIAL_H
#define MLC_RUNTIME_TRANSPORT_TRIAL_H

#include "runtime/transport/Communicator.h"

namespace mlc::runtime::transport {

struct TrialOptions {
  /// The engine's own all-reduce, instead of `algorithm`.
  bool own = false;
  Algorithm algorithm = Algorithm::Ring;
  mlc_dtype type = MLC_F32;
  int64_t elements = 0;
  int repeat = 1;
};

/// Of all ranks, known to each.
struct TrialResult {
  struct Rank {
    uint64_t sentBytes, receivedBytes, sentMessages;
    double seconds; // the fastest repetition
    bool right;
  };
  std::vector<Rank> ranks;
};

/// The whole trial on this rank. `result.ranks[r].right` tells whether rank r
/// had the sum in each repetition.
Status runTrial(Communicator &communicator, const TrialOptions &options,
                TrialResult &result);

/// The same on threads of this process, with the programs checked first.
Status runTrialInProcess(int ranks, const Communicator::Options &communication,
                         const TrialOptions &options, TrialResult &result);

/// The elements that rank `rank` has at first, and the sum of `workers` of
/// them: whole numbers whose sums are exact in every type.
void fillSample(mlc_dtype type, int workers, int rank, int64_t elements,
                void *data);
void fillSum(mlc_dtype type, int workers, int64_t elements, void *data);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_TRIAL_H
