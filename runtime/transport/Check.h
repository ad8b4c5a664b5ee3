//===- Check.h - Whether programs of all ranks fit together -----*- C++ -*-===//
//
// Runs the programs of all ranks against each other without an engine, as
// strictly as any engine: a send completes only once its receive has begun
// (rendezvous, no buffering). A program that passes terminates on every engine.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_CHECK_H
#define MLC_RUNTIME_TRANSPORT_CHECK_H

#include "runtime/transport/Schedule.h"

namespace mlc::runtime::transport {

struct Traffic {
  int64_t sentElements = 0, receivedElements = 0;
  int64_t sentMessages = 0;
};

/// Refuses ranges beyond their memory, races within a step, sends and receives
/// of different lengths or without a partner, and deadlocks. The error names
/// rank and step. With `data`, a pointer to the elements of each rank, the
/// elements are moved and summed too. `traffic` is per rank.
Status runTogether(const std::vector<Program> &programs, int64_t elements,
                   std::vector<Traffic> &traffic,
                   const std::vector<void *> &data = {},
                   mlc_dtype type = MLC_U8);

/// makeProgram for every rank.
Status makePrograms(const Request &request, std::vector<Program> &programs);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_CHECK_H
