//===- Meeting.h - Ranks find each other at MASTER_ADDR ---------*- C++ -*-===//
//
// What engines without a launcher of their own (Gloo, NCCL) share: the table of
// notes that rank 0 holds (Store.h), the comparison of what ranks have been
// told, and boards of those of one machine (Board.h).
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_MEETING_H
#define MLC_RUNTIME_TRANSPORT_MEETING_H

#include "runtime/transport/Board.h"
#include "runtime/transport/EngineTable.h"
#include "runtime/transport/Store.h"

#include <memory>
#include <vector>

namespace mlc::runtime::transport {

class Meeting {
public:
  using Clock = std::chrono::steady_clock;

  /// Joins the others at MASTER_ADDR and MASTER_PORT, where rank 0 listens
  /// until it ends. What is wrong, with the remedy, or nothing.
  std::string join(int rank, int size, Clock::time_point deadline);

  ~Meeting();

  StoreClient &notes() { return store; }

  /// Waits for a note. Why there is none, or nothing; `whose` are those that
  /// leave it, as "rank 2". At once an error where a rank has ended, or has
  /// given up: all say the same.
  std::string wait(const std::string &name, std::string &value,
                   const std::string &whose, Clock::time_point deadline);
  /// Who has ended or given up, as it is told; empty where all run, as far as
  /// is known.
  std::string whoEnded();

  /// Waits for a note under `prefix` of each of `ranks`, which are numbers
  /// among all; the values are in their order. An error as of wait(), of all
  /// that have not come.
  std::string collect(const std::string &prefix, const std::vector<int> &ranks,
                      std::vector<std::string> &values,
                      Clock::time_point deadline);
  /// Leaves this rank's note under `prefix` too, at first.
  std::string exchange(const std::string &prefix, const std::vector<int> &ranks,
                       const std::string &value,
                       std::vector<std::string> &values,
                       Clock::time_point deadline);
  /// Those of `ranks` that leave the same color, this one's. See mlc_engine.h,
  /// split().
  std::string split(const std::string &prefix, const std::vector<int> &ranks,
                    int color, std::vector<int> &members,
                    Clock::time_point deadline);

private:
  std::string giveUp(const std::string &why);

  int rank = 0, size = 0;
  bool hasGivenUp = false;
  std::unique_ptr<StoreServer> server;
  StoreClient store;
};

/// Cells of `ranks` in shared memory.
class SharedBoard {
public:
  SharedBoard() = default;
  SharedBoard(const SharedBoard &) = delete;
  SharedBoard &operator=(const SharedBoard &) = delete;
  ~SharedBoard();

  /// All of `ranks` call it, of which this one is the `own`-th.
  std::string open(Meeting &meeting, const std::string &prefix,
                   const std::vector<int> &ranks, int own,
                   Meeting::Clock::time_point deadline);
  void publish(const mlc_notice &notice) {
    if (!cells.empty())
      cells[own]->write(notice);
  }
  /// False for ranks of other machines. One that has ended without a word has
  /// died.
  bool look(int other, mlc_notice &notice) const;

private:
  bool hasEnded(int other) const;

  int own = 0, fd = -1;
  size_t bytes = 0;
  void *memory = nullptr;
  std::vector<BoardCell *> cells;
  /// Of each rank: whether it holds the lock of its place while it runs.
  std::vector<bool> isLocked;
};

/// What a mlc_comm of such an engine begins with: a rank of all, or of a group.
struct MetEnd : EngineEnd {
  std::shared_ptr<Meeting> meeting;
  /// Before its ranks' notes; another one for each group.
  std::string prefix = "all";
  std::vector<int> ranks; // among all
  uint64_t splits = 0;
  SharedBoard board;

  /// What is wrong, with the remedy, or nothing.
  std::string join(const mlc_world &world, Meeting::Clock::time_point deadline);
  /// An error of an engine that connects the ranks, or the reason that is known
  /// a moment later: who has died.
  std::string explain(const std::string &error);
  /// Ends with an error that is told: it has not died.
  void leave();
  /// Makes `group` the one of this rank's color; its size stays 0 if that is
  /// -1. See mlc_engine.h.
  std::string split(int color, Meeting::Clock::time_point deadline,
                    int *members, MetEnd &group);
};

template <typename Comm>
void publishOnBoard(mlc_comm *comm, const mlc_notice *notice) {
  static_cast<Comm *>(comm)->board.publish(*notice);
}
template <typename Comm>
int lookOnBoard(mlc_comm *comm, int rank, mlc_notice *notice) {
  return static_cast<Comm *>(comm)->board.look(rank, *notice);
}

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_MEETING_H
