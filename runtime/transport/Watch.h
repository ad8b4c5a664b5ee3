//===- Watch.h - Detects missing ranks --------------------------*- C++ -*-===//
//
// Each rank publishes the number and name of its collective, and a heartbeat. A
// waiting rank reads those of the others, and names ranks that are missing,
// have stopped, or run another collective.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_TRANSPORT_WATCH_H
#define MLC_RUNTIME_TRANSPORT_WATCH_H

#include "runtime/Status.h"
#include "runtime/transport/mlc_engine.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace mlc::runtime::transport {

/// "2.5 s".
std::string inSeconds(std::chrono::nanoseconds time);

class Watch {
public:
  using Clock = std::chrono::steady_clock;

  /// A wait of `timeout` without progress is a failure. For a group, `group` is
  /// its name and `ranks` maps its ranks to all ranks.
  Watch(const mlc_engine &engine, mlc_comm *comm, Clock::duration timeout,
        std::string group = "", std::vector<int> ranks = {});

  void enter(const std::string &name);
  void leave();
  /// No further collective follows.
  void end();
  void progressed() { lastProgress = Clock::now(); }

  /// Makes the next check() look, however recent the last look.
  void hurry() { lastLook = {}; }
  /// Cheap; call it often. An error if another rank has failed, has left or
  /// runs another collective, or if the time is over. `awaited` are the ranks
  /// that this one waits for.
  Status check(const std::vector<int> &awaited);

  /// The error of a rank that is told to end, or whose engine lost a peer;
  /// listens for which ranks still run.
  Status lost(mlc_status code, const std::string &what,
              const std::vector<int> &awaited);

  /// The message if a call of the engine does not return; any thread may call
  /// it.
  std::string hung() const;

  /// The watches of all groups of this process, used by one thread. A failure
  /// is published in all of them.
  struct Family {
    std::vector<Watch *> watches;
    bool failed = false;
  };
  void join(std::shared_ptr<Family> relatives);
  const std::shared_ptr<Family> &relatives() const { return family; }
  ~Watch();

  /// The group's rank `other` among all ranks.
  int among(int other) const { return ranks[other]; }

  /// An error about the collective, published to the others. `blamed` is a rank
  /// among all.
  Status fail(mlc_status code, const std::string &what, int blamed = -1);

  /// Called after this rank reported an error with this code. Waits up to two
  /// seconds for the running ranks to report theirs.
  void farewell(int code);

private:
  struct Seen {
    mlc_notice notice{};
    bool known = false;
    Clock::time_point since; // since its last heartbeat
  };
  void lookAround(Clock::time_point now);
  Status late(const std::vector<int> &awaited, Clock::time_point now);
  std::string why(int rank, const std::vector<int> &awaited,
                  Clock::time_point now, Clock::duration silence) const;
  std::string missing(const std::vector<int> &awaited, Clock::time_point now,
                      Clock::duration silence, int &blamed) const;
  void publish(mlc_rank_state state, int blamed = -1);
  void listen();
  std::string dead(int &blamed) const;
  std::string silent(Clock::duration silence, int &blamed) const;
  std::string elsewhere(const std::string &said, int &blamed) const;
  std::string describe(const mlc_notice &notice) const;
  /// The message about a rank that has failed, or left because of a failure.
  std::string givenUp(int other) const;
  std::string who(int other) const {
    return "rank " + std::to_string(ranks[other]);
  }

  const mlc_engine &engine;
  mlc_comm *comm;
  Clock::duration timeout;
  int rank, size;
  std::string group;
  std::vector<int> ranks;
  std::shared_ptr<Family> family;
  mlc_notice own{};
  Clock::time_point lastProgress, lastLook;
  std::vector<Seen> others;
};

} // namespace mlc::runtime::transport

#endif // MLC_RUNTIME_TRANSPORT_WATCH_H
