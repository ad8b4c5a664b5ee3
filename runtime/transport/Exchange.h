//===- Exchange.h - What a session's collectives are -----*- C++ -*-===//
//
// From what a session asks for (runtime/Ranks.h) to requests among the ranks of
// one axis of the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_EXCHANGE_H
#define MLC_RUNTIME_TRANSPORT_EXCHANGE_H

#include "runtime/Ranks.h"
#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

/// One message of a collective, as this rank carries it out: `input` is copied
/// to `inputTo` of the memory that is worked on, and what is made there, from
/// `outputFrom` on, to `output`. Counts elements.
struct Exchange {
  /// What is worked on: the output, the input (which is consumed), or memory of
  /// its own, of `workElements`.
  enum Memory : uint8_t { Output, Input, Own };
  Memory memory = Output;
  int64_t workElements = 0;
  int64_t inputTo = 0, inputElements = 0;
  int64_t outputFrom = 0, outputElements = 0;
  Request request;
  /// A shift, which no engine has of its own: sends and receives.
  bool isShift = false;
  Program program;
  std::string name;
};

/// The exchanges of `call` for the rank with `coordinate` on its axis, of
/// `ranks` ranks, one a message. Errors: an algorithm that there is not, or
/// that does not do it; types without a sum.
Status makeExchanges(const CollectiveCall &call, int ranks, int coordinate,
                     std::vector<Exchange> &exchanges);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_EXCHANGE_H
