//===- Gloo.h - Shared parts of the engine Gloo -----------------*- C++ -*-===//

#ifndef MLC_RUNTIME_TRANSPORT_GLOO_H
#define MLC_RUNTIME_TRANSPORT_GLOO_H

#include "runtime/transport/Rendezvous.h"

#include <gloo/rendezvous/context.h>

#include <condition_variable>
#include <deque>
#include <mutex>

struct mlc_request {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  std::thread own; // runs one of the engine's own collectives
  bool done = false;
  std::string failure;
};

namespace mlc::runtime::transport {

/// For Gloo's waits, whose timeout closes the connection.
constexpr auto forever = std::chrono::hours(24 * 365);

/// Requests to or from one peer, which complete in order.
struct GlooLine {
  std::deque<mlc_request *> requests;
  std::thread thread;
};

/// Begins Gloo's own collective on a thread, which sets `done`.
mlc_status glooCollective(mlc_comm *comm, const mlc_operation *operation,
                          void *data, mlc_request **request);

} // namespace mlc::runtime::transport

struct mlc_comm : mlc::runtime::transport::MetEnd {
  std::shared_ptr<gloo::rendezvous::Context> context;
  uint32_t collectives = 0;
  // Shared by the waiting threads.
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  std::map<std::pair<int, bool>, mlc::runtime::transport::GlooLine> lines;
};

#endif // MLC_RUNTIME_TRANSPORT_GLOO_H
