//===- Inproc.cpp - Ranks that are threads of one process -----------------===//
//
// Rendezvous: a send is done when its receive has taken it. Everything is under
// one lock, which is simple; this engine is for tests.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Board.h"
#include "runtime/transport/Engine.h"
#include "runtime/transport/Reduce.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

using namespace mlc::runtime::transport;

/// What is under way; `done` is set under the hub's lock.
struct mlc_request {
  char *data = nullptr;
  size_t bytes = 0;
  bool done = false;
  bool wrongLength = false;
};

struct InprocHub::Impl {
  explicit Impl(int ranks) : ranks(ranks), board(ranks), opened(ranks) {}

  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  bool aborted = false;
  std::vector<BoardCell> board;
  std::vector<bool> opened;
  int next = 0;
  /// All that has been begun and not been found done.
  std::map<mlc_request *, std::unique_ptr<mlc_request>> requests;
  mlc_request *begin(void *data, size_t bytes) {
    auto result = std::make_unique<mlc_request>();
    result->data = static_cast<char *>(data);
    result->bytes = bytes;
    mlc_request *request = result.get();
    requests.emplace(request, std::move(result));
    return request;
  }
  /// Without a partner yet, from one rank to another; one of both is empty.
  struct Line {
    std::deque<mlc_request *> sends, receives;
  };
  std::map<std::pair<int, int>, Line> lines;
  /// The engine's own all-reduces under way, in order: who has come.
  struct Sum {
    std::vector<mlc_request *> of;
    int come = 0;
  };
  std::map<uint64_t, Sum> sums;

  void meet(Line &line);
  void sum(Sum &all, mlc_dtype type, size_t elements);
};

struct mlc_comm {
  mlc_comm(InprocHub::Impl *hub, int rank) : hub(hub), rank(rank) {}
  InprocHub::Impl *hub;
  int rank;
  uint64_t sums = 0;
  mlc_counters counts{};
  std::string text;
};

namespace {

thread_local InprocHub::Impl *current = nullptr;

mlc_status failed(mlc_comm *comm, mlc_status code, const char *text) {
  comm->text = text;
  return code;
}

mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                size_t size) {
  if (!current) {
    snprintf(text, size, "no hub is current on this thread");
    return MLC_USAGE;
  }
  std::lock_guard<std::mutex> lock(current->mutex);
  int rank = world->rank >= 0 ? world->rank : current->next++;
  if (rank >= current->ranks || current->opened[rank] ||
      (world->size >= 0 && world->size != current->ranks)) {
    snprintf(text, size, "rank %d of %d is not free among %d", rank,
             world->size, current->ranks);
    return MLC_USAGE;
  }
  current->opened[rank] = true;
  *comm = new mlc_comm(current, rank);
  return MLC_OK;
}

void close(mlc_comm *comm) { delete comm; }

void abort(mlc_comm *comm, int) {
  std::lock_guard<std::mutex> lock(comm->hub->mutex);
  comm->hub->aborted = true;
  comm->hub->changed.notify_all();
}

int rank(mlc_comm *comm) { return comm->rank; }
int size(mlc_comm *comm) { return comm->hub->ranks; }
const char *error(mlc_comm *comm) { return comm->text.c_str(); }

mlc_status begin(mlc_comm *comm, int peer, bool isSend, void *data,
                 size_t bytes, mlc_request **request) {
  InprocHub::Impl &hub = *comm->hub;
  if (peer < 0 || peer >= hub.ranks || peer == comm->rank)
    return failed(comm, MLC_USAGE, "a transfer with a rank that is none");
  std::lock_guard<std::mutex> lock(hub.mutex);
  // Memory of what was under way may be gone by now.
  if (hub.aborted)
    return failed(comm, MLC_DEVICE, "aborted by another rank");
  *request = hub.begin(data, bytes);
  auto &line = hub.lines[isSend ? std::make_pair(comm->rank, peer)
                                : std::make_pair(peer, comm->rank)];
  (isSend ? line.sends : line.receives).push_back(*request);
  (isSend ? comm->counts.sent_bytes : comm->counts.received_bytes) += bytes;
  ++(isSend ? comm->counts.sent_messages : comm->counts.received_messages);
  hub.meet(line);
  return MLC_OK;
}

mlc_status send(mlc_comm *comm, int peer, const void *data, size_t bytes,
                mlc_request **request) {
  return begin(comm, peer, true, const_cast<void *>(data), bytes, request);
}

mlc_status receive(mlc_comm *comm, int peer, void *data, size_t bytes,
                   mlc_request **request) {
  return begin(comm, peer, false, data, bytes, request);
}

mlc_status allReduce(mlc_comm *comm, void *data, size_t elements,
                     mlc_dtype type, mlc_request **request) {
  if (!isSummable(type))
    return failed(comm, MLC_UNSUPPORTED, "elements of this type have no sum");
  InprocHub::Impl &hub = *comm->hub;
  std::lock_guard<std::mutex> lock(hub.mutex);
  if (hub.aborted)
    return failed(comm, MLC_DEVICE, "aborted by another rank");
  *request = hub.begin(data, elements * mlc_dtype_size(type));
  const uint64_t number = comm->sums++;
  InprocHub::Impl::Sum &all = hub.sums[number];
  all.of.resize(hub.ranks);
  all.of[comm->rank] = *request;
  if (++all.come == hub.ranks) {
    hub.sum(all, type, elements);
    hub.sums.erase(number);
  }
  return MLC_OK;
}

mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  InprocHub::Impl &hub = *comm->hub;
  std::unique_lock<std::mutex> lock(hub.mutex);
  auto over = [&] { return request->done || hub.aborted; };
  if (!over() && nanoseconds > 0)
    hub.changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds), over);
  *done = request->done;
  if (!request->done && !hub.aborted)
    return MLC_OK;
  // Others may still meet it: it goes with the hub.
  if (!request->done)
    return failed(comm, MLC_DEVICE, "aborted by another rank");
  const bool wrong = request->wrongLength;
  hub.requests.erase(request);
  return wrong ? failed(comm, MLC_INTERNAL, "a send and a receive differ")
               : MLC_OK;
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  comm->hub->board[comm->rank].write(*notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return comm->hub->board[rank].read(*notice);
}

void counters(mlc_comm *comm, mlc_counters *counters) {
  *counters = comm->counts;
}

} // namespace

void InprocHub::Impl::meet(Line &line) {
  while (!line.sends.empty() && !line.receives.empty()) {
    mlc_request *from = line.sends.front(), *to = line.receives.front();
    line.sends.pop_front();
    line.receives.pop_front();
    if (from->bytes == to->bytes)
      std::memcpy(to->data, from->data, from->bytes);
    else
      from->wrongLength = to->wrongLength = true;
    from->done = to->done = true;
    changed.notify_all();
  }
}

void InprocHub::Impl::sum(Sum &all, mlc_dtype type, size_t elements) {
  for (mlc_request *request : all.of)
    if (request->bytes != all.of[0]->bytes)
      all.of[0]->wrongLength = true;
  const bool wrong = all.of[0]->wrongLength;
  for (int rank = 1; rank < ranks && !wrong; ++rank)
    add(type, all.of[0]->data, all.of[rank]->data,
        static_cast<int64_t>(elements));
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank && !wrong)
      std::memcpy(all.of[rank]->data, all.of[0]->data, all.of[0]->bytes);
    all.of[rank]->wrongLength = wrong;
    all.of[rank]->done = true;
  }
  changed.notify_all();
}

namespace mlc::runtime::transport {

InprocHub::InprocHub(int ranks) : impl(std::make_unique<Impl>(ranks)) {}

InprocHub::~InprocHub() = default;

void InprocHub::makeCurrent() { current = impl.get(); }

const mlc_engine &inprocEngine() {
  static const mlc_engine engine = {MLC_ENGINE_VERSION,
                                    "inproc",
                                    open,
                                    close,
                                    abort,
                                    rank,
                                    size,
                                    error,
                                    send,
                                    receive,
                                    allReduce,
                                    test,
                                    publish,
                                    look,
                                    counters};
  return engine;
}

} // namespace mlc::runtime::transport
