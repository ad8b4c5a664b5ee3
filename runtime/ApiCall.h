//===- ApiCall.h - Shared parts of the C ABI's functions --------*- C++ -*-===//
//
// Api.cpp defines the functions of artifacts, ApiSession.cpp those of sessions.
//
//===----------------------------------------------------------------------===//

#ifndef MLC_RUNTIME_APICALL_H
#define MLC_RUNTIME_APICALL_H

#include "runtime/Artifact.h"
#include "runtime/AsyncRun.h"
#include "runtime/Session.h"
#include "runtime/Text.h"
#include "runtime/mlc_runtime.h"

#include <mutex>
#include <new>
#include <pthread.h>
#include <string>
#include <system_error>

struct mlc_artifact {
  std::shared_ptr<const mlc::runtime::Artifact> impl;
  /// The entry whose inputs, outputs and steps it shows.
  size_t entry = 0;
  /// Whether an entry was asked for. Else a pipeline shows the inputs and
  /// outputs of its model.
  bool isEntry = false;

  /// The pipeline that it is all of; null for other artifacts.
  const mlc::runtime::Pipeline *pipeline() const {
    return !isEntry && impl->pipeline() ? &*impl->pipeline() : nullptr;
  }
};

/// One rank's end; runtime/transport/ApiRanks.cpp opens it.
struct mlc_ranks {
  std::shared_ptr<mlc::runtime::Ranks> impl;
  /// currentProcess() of the process that opened it; its thread does not
  /// survive a fork.
  unsigned process;
};

namespace mlc::runtime::api {

/// What sessions that share states have in common besides them.
struct Common {
  std::shared_ptr<const Artifact> artifact;
  uint32_t flags;
  unsigned process;
  /// Held by the thread that is inside one of these sessions.
  std::mutex turn;
  AsyncRun async;
  /// The session of that run.
  const void *runner = nullptr;
};

} // namespace mlc::runtime::api

struct mlc_session {
  mlc::runtime::Session impl;
  std::shared_ptr<mlc::runtime::api::Common> common;

  ~mlc_session() {
    if (common->async.isPending() && common->runner == this)
      (void)common->async.wait();
  }
};

namespace mlc::runtime::api {

/// How many forks lie between this process and the one that loaded the library.
inline unsigned currentProcess() {
  static unsigned forks = 0;
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { ++forks; });
  (void)registered;
  return forks;
}

/// The calling thread's last message. A fixed array, so that reporting "out of
/// memory" needs no memory.
inline thread_local char lastError[2048] = "";

inline mlc_status report(mlc_status code, const char *message) {
  size_t i = 0;
  for (; message[i] && i + 1 < sizeof(lastError); ++i)
    lastError[i] = message[i];
  lastError[i] = 0;
  return code;
}

/// Runs `fn`, which returns a Status; lets no exception escape.
template <typename Fn> mlc_status guarded(Fn fn) {
  try {
    Status status = fn();
    if (!status.ok())
      return report(status.code, printable(status.message).c_str());
    return MLC_OK;
  } catch (const std::bad_alloc &) {
    return report(MLC_RESOURCES, "out of memory");
  } catch (const std::system_error &e) {
    return report(MLC_RESOURCES, e.what());
  } catch (const std::exception &e) {
    return report(MLC_INTERNAL, e.what());
  }
}

inline mlc_status noSuch(const char *what, size_t index, size_t count) {
  return guarded([&] {
    return Status::error(MLC_USAGE, std::string("there is no ") + what + " " +
                                        std::to_string(index) + "; there are " +
                                        std::to_string(count));
  });
}

/// Whether a parent process made the session: its threads do not survive a
/// fork.
inline bool isOfParent(const mlc_session *session) {
  return session->common->process != currentProcess();
}
inline mlc_status ofParent() {
  return report(MLC_USAGE, "the session was made before this process was "
                           "forked, and its threads are not here; make one in "
                           "this process");
}
inline mlc_status ofAnother() {
  return report(MLC_USAGE, "another thread is using the session, or one that "
                           "shares its states; make a session for each thread, "
                           "or let them take turns");
}

/// Runs `fn` on the session's implementation unless a run is under way.
template <typename Fn> mlc_status onSession(mlc_session *session, Fn fn) {
  if (isOfParent(session))
    return ofParent();
  std::unique_lock<std::mutex> turn(session->common->turn, std::try_to_lock);
  if (!turn)
    return ofAnother();
  if (session->common->async.isPending())
    return report(MLC_USAGE, "a run of the session, or of one that shares its "
                             "states, is under way; call mlc_session_wait "
                             "first");
  return guarded([&] { return fn(session->impl); });
}

inline Status checkSpace(mlc_space space) {
  if (space == MLC_SPACE_HOST || space == MLC_SPACE_DEVICE)
    return Status::success();
  return Status::error(MLC_USAGE,
                       std::to_string(int(space)) + " is no mlc_space");
}

/// Checks what can be wrong with any tensor of the caller.
inline Status checkTensor(const char *what, size_t index, mlc_dtype type,
                          size_t rank, mlc_space space) {
  if (unsigned(type) >= numDTypes || rank > MLC_MAX_RANK)
    return Status::error(MLC_USAGE, std::string(what) + " " +
                                        std::to_string(index) +
                                        ": unknown type or rank above " +
                                        std::to_string(MLC_MAX_RANK));
  return checkSpace(space);
}

inline mlc_status nullArgument() {
  return report(MLC_USAGE, "a required argument is NULL");
}

} // namespace mlc::runtime::api

#endif // MLC_RUNTIME_APICALL_H
