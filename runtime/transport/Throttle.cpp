//===- Throttle.cpp - A slow link between ranks ---------------------------===//

#include "runtime/transport/Throttle.h"
#include "runtime/Text.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mlc::runtime::transport {

namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double count) {
  return std::chrono::nanoseconds(static_cast<int64_t>(count * 1e9));
}

/// A rank's single link, shared by its groups.
struct Line {
  Link link;
  Clock::time_point free{};

  /// When `bytes` sent now have passed, with `hops` latencies.
  Clock::time_point pass(double bytes, double hops) {
    free = std::max(free, Clock::now());
    if (link.bandwidth > 0)
      free += seconds(bytes / link.bandwidth);
    return free + seconds(link.latency * hops);
  }
};

struct Engine;

/// Wraps the engine's request.
struct Request {
  mlc_request *inner = nullptr;
  Clock::time_point due{};
  // A send not yet passed to the engine.
  bool waits = false;
  int peer = 0;
  const void *data = nullptr;
  size_t bytes = 0;
  mlc_status failure = MLC_OK;
};

/// Wraps the engine's comm.
struct End {
  const Engine *engine;
  mlc_comm *inner;
  std::shared_ptr<Line> line;
  std::deque<Request *> waiting; // in order
};

/// An engine with a link.
struct Engine {
  mlc_engine table;
  const mlc_engine *inner;
  Link link;
};

End *endOf(mlc_comm *comm) { return reinterpret_cast<End *>(comm); }
const mlc_engine &innerOf(mlc_comm *comm) {
  return *endOf(comm)->engine->inner;
}
mlc_comm *wrap(const Engine &engine, mlc_comm *inner,
               std::shared_ptr<Line> line) {
  return reinterpret_cast<mlc_comm *>(
      new End{&engine, inner, std::move(line), {}});
}

/// Passes on the sends that the link has finished.
void passOn(End &end) {
  const Clock::time_point now = Clock::now();
  while (!end.waiting.empty() && end.waiting.front()->due <= now) {
    Request &request = *end.waiting.front();
    end.waiting.pop_front();
    request.waits = false;
    request.failure = end.engine->inner->send(
        end.inner, request.peer, request.data, request.bytes, &request.inner);
  }
}

void close(mlc_comm *comm) {
  innerOf(comm).close(endOf(comm)->inner);
  delete endOf(comm);
}

void abort(mlc_comm *comm, int code) {
  innerOf(comm).abort(endOf(comm)->inner, code);
}

mlc_status split(mlc_comm *comm, int color, int64_t timeout, int *members,
                 mlc_comm **group) {
  mlc_comm *inner = nullptr;
  mlc_status code =
      innerOf(comm).split(endOf(comm)->inner, color, timeout, members, &inner);
  *group =
      inner ? wrap(*endOf(comm)->engine, inner, endOf(comm)->line) : nullptr;
  return code;
}

int rank(mlc_comm *comm) { return innerOf(comm).rank(endOf(comm)->inner); }
int size(mlc_comm *comm) { return innerOf(comm).size(endOf(comm)->inner); }
const char *error(mlc_comm *comm) {
  return innerOf(comm).error(endOf(comm)->inner);
}

mlc_request *hand(std::unique_ptr<Request> request) {
  return reinterpret_cast<mlc_request *>(request.release());
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  End &end = *endOf(comm);
  auto own = std::make_unique<Request>();
  own->due = end.line->pass(static_cast<double>(bytes), 1);
  // A stepwise engine must get together what was begun together.
  if (end.engine->inner->stepwise) {
    mlc_status code =
        end.engine->inner->send(end.inner, peer, data, bytes, &own->inner);
    if (code != MLC_OK)
      return code;
  } else {
    own->waits = true;
    own->peer = peer;
    own->data = data;
    own->bytes = bytes;
    end.waiting.push_back(own.get());
  }
  *request = hand(std::move(own));
  return MLC_OK;
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  auto own = std::make_unique<Request>();
  mlc_status code =
      innerOf(comm).receive(endOf(comm)->inner, peer, data, bytes, &own->inner);
  if (code == MLC_OK)
    *request = hand(std::move(own));
  return code;
}

mlc_status collective(mlc_comm *comm, const mlc_operation *operation,
                      void *data, mlc_request **request) {
  End &end = *endOf(comm);
  auto own = std::make_unique<Request>();
  mlc_status code =
      innerOf(comm).collective(end.inner, operation, data, &own->inner);
  if (code != MLC_OK)
    return code;
  const double ranks = size(comm);
  const double bytes = static_cast<double>(operation->elements) *
                       static_cast<double>(operation->element_size);
  const double rounds = operation->kind == MLC_ALL_REDUCE ? 2 : 1;
  if (ranks > 1)
    own->due = operation->kind == MLC_BROADCAST
                   ? end.line->pass(bytes, 1)
                   : end.line->pass(rounds * bytes * (ranks - 1) / ranks,
                                    rounds * (ranks - 1));
  *request = hand(std::move(own));
  return MLC_OK;
}

/// One round of a test; `time` ends at the latest when the next send is due.
mlc_status testOnce(End &end, Request &request, Clock::duration time,
                    int *done) {
  passOn(end);
  if (request.failure != MLC_OK)
    return request.failure;
  const Clock::time_point now = Clock::now();
  if (!end.waiting.empty())
    time = std::min(time, end.waiting.front()->due - now);
  if (request.waits || (!request.inner && now < request.due)) {
    std::this_thread::sleep_for(
        std::min(time, std::max(request.due - now, Clock::duration(0))));
    return MLC_OK;
  }
  const int64_t left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  int over = request.inner == nullptr;
  if (!over) {
    mlc_status code = end.engine->inner->test(
        end.inner, request.inner, std::max<int64_t>(left, 0), &over);
    if (code != MLC_OK)
      return code;
    if (over)
      request.inner = nullptr;
  }
  *done = over && Clock::now() >= request.due;
  return MLC_OK;
}

mlc_status test(mlc_comm *comm, mlc_request *handle, int64_t nanoseconds,
                int *done) {
  auto *request = reinterpret_cast<Request *>(handle);
  const Clock::time_point end =
      Clock::now() +
      std::chrono::nanoseconds(std::max<int64_t>(nanoseconds, 0));
  *done = 0;
  for (;;) {
    const Clock::duration left = end - Clock::now();
    mlc_status code = testOnce(*endOf(comm), *request,
                               std::max(left, Clock::duration(0)), done);
    if (code != MLC_OK || *done)
      delete request;
    if (code != MLC_OK || *done || Clock::now() >= end)
      return code;
  }
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  innerOf(comm).publish(endOf(comm)->inner, notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return innerOf(comm).look(endOf(comm)->inner, rank, notice);
}

void counters(mlc_comm *comm, mlc_counters *counters) {
  innerOf(comm).counters(endOf(comm)->inner, counters);
}

Status readNumber(const char *variable, double &number) {
  const char *text = std::getenv(variable);
  if (!text || number > 0)
    return Status::success();
  char *end = nullptr;
  number = std::strtod(text, &end);
  if (*text && !*end && std::isfinite(number) && number >= 0)
    return Status::success();
  return Status::error(MLC_USAGE, std::string(variable) + " is \"" +
                                      printable(text) +
                                      "\"; give a number from 0 on, or unset "
                                      "it");
}

} // namespace

Status findLink(Link &link) {
  Status status = readNumber("MLC_LINK_BANDWIDTH", link.bandwidth);
  return status.ok() ? readNumber("MLC_LINK_LATENCY", link.latency) : status;
}

/// The engine that a thread opens, since the table's open() has no argument for
/// it.
static thread_local const Engine *opening = nullptr;

static mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                       size_t size) {
  mlc_comm *inner = nullptr;
  mlc_status code = opening->inner->open(world, &inner, text, size);
  if (code == MLC_OK)
    *comm =
        wrap(*opening, inner, std::make_shared<Line>(Line{opening->link, {}}));
  return code;
}

const mlc_engine &throttled(const mlc_engine &inner, const Link &link) {
  static std::mutex mutex;
  static std::deque<Engine> engines; // few, and never removed
  std::lock_guard<std::mutex> lock(mutex);
  Engine *engine = nullptr;
  for (Engine &one : engines)
    if (one.inner == &inner && one.link.bandwidth == link.bandwidth &&
        one.link.latency == link.latency)
      engine = &one;
  if (!engine) {
    engines.push_back({{}, &inner, link});
    engine = &engines.back();
    engine->table = {MLC_ENGINE_VERSION,
                     inner.name,
                     inner.stepwise,
                     open,
                     close,
                     abort,
                     split,
                     rank,
                     size,
                     error,
                     send,
                     receive,
                     collective,
                     test,
                     nullptr, // not of GPUs
                     nullptr,
                     publish,
                     look,
                     counters};
  }
  opening = engine;
  return engine->table;
}

} // namespace mlc::runtime::transport
