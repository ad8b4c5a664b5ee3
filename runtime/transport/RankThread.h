//===- RankThread.h - Collectives beside a session's steps ------*- C++ -*-===//
//
// A session's ranks (runtime/Ranks.h) over an engine: a thread of its own,
// which alone calls the engine, carries out what was started, of each group of
// ranks one after another (Progress.h).
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
  /// What the launcher said; -1: nothing.
  int rank = -1, size = -1;
  Communicator::Options communication;
  /// Of each axis, to which a program's collectives are given in turn; alike on
  /// all ranks.
  unsigned groups = 1;
  /// The device of sessions: of an engine that works in a GPU's memory, "cuda"
  /// or "cuda:N" is where; others are not looked at.
  std::string device;
  /// Of this rank among those of its machine; -1: nobody said.
  int localRank = -1;
  /// For the engine inproc.
  std::shared_ptr<InprocHub> hub;
};

/// Of the device, which `options` have for sessions, sets
/// `communication.device` where the engine works in its memory: of "cuda" the
/// GPU of the local rank. MLC_DEVICE where the machine has none such.
Status chooseGpu(RankOptions &options);

constexpr unsigned mostGroups = 64;
/// MLC_USAGE for a number of groups that cannot be.
Status checkGroups(uint64_t groups);

/// Joins the others; waits until all have come, or the timeout. The ranks are
/// left when the object goes, in good order unless a collective has failed.
Status openRanks(const RankOptions &options, std::shared_ptr<Ranks> &ranks);

/// Carries out `work` on the thread of `ranks`, which openRanks or openThreads
/// gave, with the communicator of all of them, behind all that was begun
/// before in any group; waits for it. What it fails with fails all that
/// follows.
Status onRankThread(Ranks &ranks,
                    const std::function<Status(Communicator &)> &work);

/// The engine and the rank that the launcher's variables speak of; `name`
/// empty: gloo for mlc launch and torchrun, else mpi. Sets `engine`, `rank`,
/// `size` and `localRank`, and chooses the GPU.
Status findEngine(const std::string &name, const World &world,
                  const std::string &folder, RankOptions &options);

/// `count` ranks of this process, over a hub that lives as long as they do. Of
/// `options` they have groups and communication.
Status openThreads(uint64_t count, RankOptions options,
                   std::vector<std::shared_ptr<Ranks>> &ranks);

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_RANKTHREAD_H
