//===- GroupTrial.h - Random collectives of several groups ------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H
#define MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H

#include "runtime/transport/Communicator.h"

namespace mlc::runtime::transport {

struct GroupTrialOptions {
  /// The first and then every third group has all ranks; the others have the
  /// ranks of equal parity, or a half of the ranks. Groups of the same ranks
  /// are used in turn, like round-robin groups.
  int groups = 2;
  int64_t steps = 1000; // over all groups
  int64_t elements = 1000;
  uint64_t seed = 0;
};

/// Starts random collectives on the groups, on each rank in a different order
/// among groups, and checks every result. An error if one is wrong.
Status runGroupTrial(Communicator &world, const GroupTrialOptions &options);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_GROUPTRIAL_H
