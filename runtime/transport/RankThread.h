//===- RankThread.h - Collectives beside a session's steps ------*- C++ -*-===//
//
// A session's ranks (runtime/Ranks.h) over an engine: a thread of its own, which
// alone calls the engine, carries out what was started, one after another.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_RANKTHREAD_H
#define MLC_RUNTIME_TRANSPORT_RANKTHREAD_H

#include "runtime/Ranks.h"
#include "runtime/transport/Communicator.h"
#include "runtime/transport/Engine.h"

namespace mlc::runtime::transport {

struct RankOptions {
  const mlc_engine *engine = nullptr;
  /// What the launcher said; -1: nothing.
  int rank = -1, size = -1;
  Communicator::Options communication;
  /// For the engine inproc; outlives the ranks.
  InprocHub *hub = nullptr;
};

/// Joins the others; waits until all have come, or the timeout. The ranks are
/// left when the object goes, in good order unless a collective has failed.
Status openRanks(const RankOptions &options, std::shared_ptr<Ranks> &ranks);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_RANKTHREAD_H
