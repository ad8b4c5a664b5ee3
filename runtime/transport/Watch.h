//===- Watch.h - Who is missing ---------------------------------*- C++ -*-===//
//
// Each rank publishes the number and name of its collective, and that it still
// runs. Who waits reads what the others have published, and names who has not
// come, has stopped, or does something else.
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

  /// A wait of `timeout` without progress is a failure. Of a group, `group` is
  /// its name and `ranks` says which of all ranks each of its ranks is.
  Watch(const mlc_engine &engine, mlc_comm *comm, Clock::duration timeout,
        std::string group = "", std::vector<int> ranks = {});

  void enter(const std::string &name);
  void leave();
  /// There will be no further collective.
  void end();
  void progressed() { lastProgress = Clock::now(); }

  /// The next check() looks, however short ago the last one did.
  void hurry() { lastLook = {}; }
  /// To be called often; cheap. An error if another rank has failed, does
  /// another collective or has gone, or if the time is over. `awaited` are the
  /// ranks that this one waits for.
  Status check(const std::vector<int> &awaited);

  /// The error of a rank that is to end, or whose engine has lost somebody;
  /// listens for who else still runs.
  Status lost(mlc_status code, const std::string &what,
              const std::vector<int> &awaited);

  /// What to say when a call of the engine does not return, on any thread.
  std::string hung() const;

  /// Those of all groups that this process is in, which are used by one thread.
  /// A failure is told to all of them.
  struct Family {
    std::vector<Watch *> watches;
    bool failed = false;
  };
  void join(std::shared_ptr<Family> relatives);
  const std::shared_ptr<Family> &relatives() const { return family; }
  ~Watch();

  /// Which of all ranks the group's rank `other` is.
  int among(int other) const { return ranks[other]; }

  /// An error about the collective, which the others are told of. `blamed` is
  /// a rank among all.
  Status fail(mlc_status code, const std::string &what, int blamed = -1);

  /// This rank has told what it knows, an error with this code; waits for up to
  /// two seconds until those that run have as well.
  void farewell(int code);

private:
  struct Seen {
    mlc_notice notice{};
    bool known = false;
    Clock::time_point since; // of its beat
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
  /// Of one that has failed, or has left because of a failure.
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
