//===- GroupTrial.h - Random collectives of several groups ------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H
#define MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H

#include "runtime/transport/Communicator.h"

namespace mlc::runtime::transport {

struct GroupTrialOptions {
  /// The first is of all ranks, as is every third; the others are of the ranks
  /// with the same remainder by two, and of halves. Groups of the same ranks
  /// are used in turn, as round-robin groups are.
  int groups = 2;
  int64_t steps = 1000; // of all groups together
  int64_t elements = 1000;
  uint64_t seed = 0;
};

/// Starts random collectives on the groups, each rank in an order of its own
/// among groups, and compares every result. An error if one is wrong.
Status runGroupTrial(Communicator &world, const GroupTrialOptions &options);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H
