//===- Exchange.h - A program's collectives as sends and receives -*- C++ -*-===//
//
// From what a session asks for (runtime/Ranks.h) to a schedule among the ranks
// of one axis of the mesh, whose peers are ranks of the world.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_EXCHANGE_H
#define MLC_RUNTIME_TRANSPORT_EXCHANGE_H

#include "runtime/Ranks.h"
#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

/// One message of a collective, as this rank carries it out: `input` is copied
/// to `at` of the memory that `program` works on, and what it has made to
/// `output`. Counts elements.
struct Exchange {
  /// What the program works on: the output, the input (which is consumed), or
  /// memory of its own, of `workElements`.
  enum Memory : uint8_t { Output, Input, Own };
  Memory memory = Output;
  int64_t workElements = 0;
  int64_t inputTo = 0, inputElements = 0;
  int64_t outputFrom = 0, outputElements = 0;
  /// The engine's own all-reduce, of this many elements; no program.
  bool isOwn = false;
  Program program;
  /// Alike on all ranks.
  std::string name;
};

/// The ranks of the world that agree with `rank` in all coordinates but that on
/// `axis`, in the order of that.
std::vector<int> groupOf(const std::vector<MeshAxis> &mesh, uint32_t axis,
                         int rank);

/// The exchanges of `call` for `rank` of the world, one a message. Errors: an
/// algorithm that there is not, or that does not do it; types without a sum.
Status makeExchanges(const std::vector<MeshAxis> &mesh,
                     const CollectiveCall &call, int rank,
                     std::vector<Exchange> &exchanges);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_EXCHANGE_H
