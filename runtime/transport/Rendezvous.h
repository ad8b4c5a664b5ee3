//===- Rendezvous.h - Rendezvous at MASTER_ADDR -----------------*- C++ -*-===//
//
// Rendezvous of engines without their own launcher (Gloo, NCCL): the table of
// notes that rank 0 holds (Store.h), checks that ranks agree, and the
// heartbeats of each machine (Heartbeat.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_RENDEZVOUS_H
#define MLC_RUNTIME_TRANSPORT_RENDEZVOUS_H

#include "runtime/transport/EngineTable.h"
#include "runtime/transport/Heartbeat.h"
#include "runtime/transport/Store.h"

#include <memory>
#include <vector>

namespace mlc::runtime::transport {

class Rendezvous {
public:
  using Clock = std::chrono::steady_clock;

  /// Joins the others at MASTER_ADDR and MASTER_PORT, where rank 0 listens
  /// until it ends. Returns the error with the remedy, or nothing.
  std::string join(int rank, int size, Clock::time_point deadline);

  ~Rendezvous();

  StoreClient &notes() { return store; }

  /// Waits for a note. Returns why there is none, or nothing. `whose` names its
  /// writers, as "rank 2". Fails at once if a rank has ended or given up, with
  /// the same error on all ranks.
  std::string wait(const std::string &name, std::string &value,
                   const std::string &whose, Clock::time_point deadline);
  /// The message about ranks that have ended or given up; empty if all are
  /// believed to run.
  std::string whoEnded();

  /// Waits for the note under `prefix` of each of `ranks`, numbered among all;
  /// `values` is in their order. Errors as in wait(), for all missing ranks.
  std::string collect(const std::string &prefix, const std::vector<int> &ranks,
                      std::vector<std::string> &values,
                      Clock::time_point deadline);
  /// The same after leaving this rank's note under `prefix`.
  std::string exchange(const std::string &prefix, const std::vector<int> &ranks,
                       const std::string &value,
                       std::vector<std::string> &values,
                       Clock::time_point deadline);
  /// Finds the ranks of this one's color. See mlc_engine.h, split().
  std::string split(const std::string &prefix, const std::vector<int> &ranks,
                    int color, std::vector<int> &members,
                    Clock::time_point deadline);

  /// Publishes why this rank gives up, so that all name the same reason.
  /// Returns the reason that was published first.
  std::string giveUp(const std::string &why);

private:
  int rank = 0, size = 0;
  bool hasGivenUp = false;
  std::unique_ptr<StoreServer> server;
  StoreClient store;
};

/// Cells of `ranks` in shared memory.
class SharedHeartbeats {
public:
  SharedHeartbeats() = default;
  SharedHeartbeats(const SharedHeartbeats &) = delete;
  SharedHeartbeats &operator=(const SharedHeartbeats &) = delete;
  ~SharedHeartbeats();

  /// All of `ranks` call it; this one is the `own`-th.
  std::string open(Rendezvous &rendezvous, const std::string &prefix,
                   const std::vector<int> &ranks, int own,
                   Rendezvous::Clock::time_point deadline);
  void publish(const mlc_notice &notice) {
    if (!cells.empty())
      cells[own]->write(notice);
  }
  /// False for ranks of other machines. A rank that ended without notice has
  /// died.
  bool look(int other, mlc_notice &notice) const;

private:
  bool hasEnded(int other) const;

  int own = 0, fd = -1;
  size_t bytes = 0;
  void *memory = nullptr;
  std::vector<HeartbeatCell *> cells;
  /// For each rank: whether it holds a lock while it runs.
  std::vector<bool> isLocked;
};

/// The begin of such an engine's mlc_comm: a rank of all, or of a group.
struct MetEnd : EngineEnd {
  std::shared_ptr<Rendezvous> rendezvous;
  /// The prefix of its ranks' notes; each group has another one.
  std::string prefix = "all";
  std::vector<int> ranks; // among all
  uint64_t splits = 0;
  SharedHeartbeats heartbeats;

  /// What is wrong, with the remedy, or nothing.
  std::string join(const mlc_world &world,
                   Rendezvous::Clock::time_point deadline);
  /// An engine's connection error, or its cause if known a moment later: which
  /// rank died.
  std::string explain(const std::string &error);
  /// Marks that this rank ends with a reported error and has not died.
  void leave();
  /// Makes `group` the one of this rank's color; its size stays 0 for color -1.
  /// See mlc_engine.h.
  std::string split(int color, Rendezvous::Clock::time_point deadline,
                    int *members, MetEnd &group);
};

template <typename Comm>
void publishOnBoard(mlc_comm *comm, const mlc_notice *notice) {
  static_cast<Comm *>(comm)->heartbeats.publish(*notice);
}
template <typename Comm>
int lookOnBoard(mlc_comm *comm, int rank, mlc_notice *notice) {
  return static_cast<Comm *>(comm)->heartbeats.look(rank, *notice);
}

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_RENDEZVOUS_H
