//===- RankThread.h - Collectives beside a session's steps ------*- C++ -*-===//
//
// A session's ranks (runtime/Ranks.h) over an engine. A separate thread, the
// only one that calls the engine, carries out started collectives, in sequence
// for each group of ranks (Progress.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_RANKTHREAD_H
#define MLC_RUNTIME_TRANSPORT_RANKTHREAD_H

#include "runtime/Ranks.h"
#include "runtime/transport/Communicator.h"
#include "runtime/transport/Engine.h"
#include "runtime/transport/World.h"

#include <functional>

namespace mlc::runtime::transport {

struct RankOptions {
  const mlc_engine *engine = nullptr;
  /// From the launcher; -1: unknown.
  int rank = -1, size = -1;
  Communicator::Options communication;
  /// Groups of each axis, which take a program's collectives in turn; the same
  /// on all ranks.
  unsigned groups = 1;
  /// The device of sessions. "cuda" or "cuda:N" sets the GPU for an engine that
  /// works in GPU memory; others are ignored.
  std::string device;
  /// This rank's number on its machine; -1: unknown.
  int localRank = -1;
  /// For ranks that are threads.
  std::shared_ptr<InprocHub> hub;
};

/// Sets `communication.device` from the device of sessions in `options`, if the
/// engine works in GPU memory; "cuda" is the GPU of the local rank. MLC_DEVICE
/// if the machine lacks it.
Status chooseGpu(RankOptions &options);

constexpr unsigned mostGroups = 64;
/// MLC_USAGE for an invalid number of groups.
Status checkGroups(uint64_t groups);

/// Joins the others; waits until all have joined, at most for the timeout. The
/// destructor leaves the ranks, in good order unless a collective has failed.
Status openRanks(const RankOptions &options, std::shared_ptr<Ranks> &ranks);

/// Runs `work` on the thread of `ranks`, from openRanks or openThreads, with
/// the communicator of all ranks, after everything begun before in any group,
/// and waits for it. After its failure all later collectives fail.
Status onRankThread(Ranks &ranks,
                    const std::function<Status(Communicator &)> &work);

/// Finds the engine and the rank from the launcher's variables; `name` empty:
/// the launcher's (World::engine). Sets `engine`, `rank`, `size`
/// and `localRank`, and chooses the GPU.
Status findEngine(const std::string &name, const World &world,
                  const std::string &folder, RankOptions &options);

/// Opens `count` ranks in this process, over a hub that lives as long as they
/// do. Uses groups and communication of `options`.
Status openThreads(uint64_t count, RankOptions options,
                   std::vector<std::shared_ptr<Ranks>> &ranks);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_RANKTHREAD_H
