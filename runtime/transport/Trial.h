//===- Trial.h - Tries out a collective -------------------------*- C++ -*-===//
//
// The work of `mlc collective`: a collective of known numbers (Sample.h), whose
// result every rank checks, and whose bytes are counted.
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
  /// For a stale server (StaleServer.h): the number of clocks (0: no server),
  /// how far a worker may be ahead, and how long rank 0 sleeps in each clock.
  int64_t steps = 0, staleness = 0;
  std::chrono::milliseconds straggle{0};
  /// The device with the elements; null: the host.
  Device *device = nullptr;
};

/// The results of all ranks, known to each.
struct TrialResult {
  struct Rank {
    uint64_t sentBytes, receivedBytes, sentMessages;
    double seconds; // the fastest repetition
    bool right;
    int64_t lead = 0; // for a stale server: the most it was ahead
  };
  std::vector<Rank> ranks;
};

/// The request for `ranks` ranks.
Request requestOf(const TrialOptions &options, int ranks);

/// Runs the whole trial on this rank. `result.ranks[r].right` tells whether
/// rank r had the right elements in every repetition.
Status runTrial(Communicator &communicator, const TrialOptions &options,
                TrialResult &result);

/// Runs a stale server and checks that no worker got further ahead than
/// allowed.
Status runServerTrial(Communicator &world, const TrialOptions &options,
                      TrialResult &result);

/// Runs either on threads of this process, after checking the programs.
Status runTrialInProcess(int ranks, const Communicator::Options &communication,
                         const TrialOptions &options, TrialResult &result);

/// Runs `body` on a thread for each rank; returns the first error. A rank that
/// fails ends the others.
Status onThreads(
    int ranks, const Communicator::Options &communication,
    const std::function<Status(Communicator &communicator, int rank)> &body);

/// Shares each rank's row with all.
Status share(Communicator &communicator, const TrialResult::Rank &own,
             TrialResult &result);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_TRIAL_H
