//===- Exchange.h - A session's collectives as requests ---------*- C++ -*-===//
//
// Turns a session's calls (runtime/Ranks.h) into requests among the ranks of
// one axis of the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_EXCHANGE_H
#define MLC_RUNTIME_TRANSPORT_EXCHANGE_H

#include "runtime/Ranks.h"
#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

/// One message of a collective on this rank: `input` is copied to `inputTo` of
/// the work memory, and the result from `outputFrom` on to `output`. Counts
/// elements.
struct Exchange {
  /// The work memory: the output, the input (which is consumed), or separate
  /// memory of `workElements`.
  enum Memory : uint8_t { Output, Input, Own };
  Memory memory = Output;
  int64_t workElements = 0;
  int64_t inputTo = 0, inputElements = 0;
  int64_t outputFrom = 0, outputElements = 0;
  Request request;
  /// A shift, which no engine provides, as sends and receives.
  bool isShift = false;
  Program program;
  std::string name;
};

/// Makes the exchanges of `call`, one per message, for the rank with
/// `coordinate` on its axis of `ranks` ranks. Fails for an unknown or
/// unsuitable algorithm, and for types without a sum.
Status makeExchanges(const CollectiveCall &call, int ranks, int coordinate,
                     std::vector<Exchange> &exchanges);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_EXCHANGE_H
