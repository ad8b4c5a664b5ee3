//===- Throttle.h - A slow link between ranks -------------------*- C++ -*-===//
//
// Wraps an engine with a link of limited bandwidth and latency, for tests and
// to measure overlap on one machine. A rank has one link to all others, which
// carries its messages one after another. A message of B bytes reaches the
// other engine when the link is free, B / bandwidth seconds and the latency
// later.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_THROTTLE_H
#define MLC_RUNTIME_TRANSPORT_THROTTLE_H

#include "runtime/Status.h"
#include "runtime/transport/mlc_engine.h"

namespace mlc::runtime::transport {

struct Link {
  double bandwidth = 0; // bytes per second; 0: no bound
  double latency = 0;   // seconds

  bool isSlow() const { return bandwidth > 0 || latency > 0; }
};

/// Sets missing values of `link` from MLC_LINK_BANDWIDTH (bytes per second) and
/// MLC_LINK_LATENCY (seconds). An error if they are not valid numbers.
Status findLink(Link &link);

/// `engine` with such a link. Sends wait in the sending process, and go out
/// when it tests any of its requests; a stepwise engine sends at once and
/// completes late. The engine's own collectives complete no sooner than the
/// link could have passed what a ring sends: 2(N-1)/N of the elements of an
/// all-reduce, (N-1)/N of the others, all of a broadcast, and a latency for
/// each of the ring's steps (one for a broadcast). The table stays valid.
const mlc_engine &throttled(const mlc_engine &engine, const Link &link);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_THROTTLE_H
