//===- Trial.h - A collective tried out -------------------------*- C++ -*-===//
//
// What `mlc collective` does: a collective of numbers that every rank knows
// (Sample.h), whose result every rank checks, and whose bytes are counted.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_TRIAL_H
#define MLC_RUNTIME_TRANSPORT_TRIAL_H

#include "runtime/transport/Communicator.h"
#include "runtime/transport/TrialMemory.h"

#include <functional>

namespace mlc::runtime::transport {

struct TrialOptions {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  mlc_dtype type = MLC_F32;
  int64_t elements = 0;
  int repeat = 1;
  /// Of a stale server (StaleServer.h): how many clocks, 0: it is none; how far
  /// a worker may be ahead; and how long rank 0 sleeps in each clock.
  int64_t steps = 0, staleness = 0;
  std::chrono::milliseconds straggle{0};
  /// Whose memory the elements are in; null: the host's.
  Device *device = nullptr;
};

/// Of all ranks, known to each.
struct TrialResult {
  struct Rank {
    uint64_t sentBytes, receivedBytes, sentMessages;
    double seconds; // the fastest repetition
    bool right;
    int64_t lead = 0; // of a stale server: how far ahead it was at most
  };
  std::vector<Rank> ranks;
};

/// Of so many ranks.
Request requestOf(const TrialOptions &options, int ranks);

/// The whole trial on this rank. `result.ranks[r].right` tells whether rank r
/// had the right elements in each repetition.
Status runTrial(Communicator &communicator, const TrialOptions &options,
                TrialResult &result);

/// A stale server, and that no worker has ever been further ahead than allowed.
Status runServerTrial(Communicator &world, const TrialOptions &options,
                      TrialResult &result);

/// Either of them on threads of this process, programs being checked first.
Status runTrialInProcess(int ranks, const Communicator::Options &communication,
                         const TrialOptions &options, TrialResult &result);

/// Runs `body` on a thread for each rank; the first error. A rank that fails
/// ends the others.
Status onThreads(
    int ranks, const Communicator::Options &communication,
    const std::function<Status(Communicator &communicator, int rank)> &body);

/// Each rank's row, known to all.
Status share(Communicator &communicator, const TrialResult::Rank &own,
             TrialResult &result);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_TRIAL_H
