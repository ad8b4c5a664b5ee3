//===- Inproc.cpp - Ranks that are threads of one process -----------------===//
//
// Rendezvous: a send completes when its receive has taken it. One lock guards
// everything, for simplicity; this engine is for tests.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Engine.h"
#include "runtime/transport/EngineTable.h"
#include "runtime/transport/Heartbeat.h"
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

/// A request under way; `done` is set under the hub's lock.
struct mlc_request {
  char *data = nullptr;
  size_t bytes = 0;
  bool done = false;
  bool wrongLength = false;
};

struct InprocHub::Impl {
  explicit Impl(int ranks) : ranks(ranks), heartbeats(ranks), opened(ranks) {}

  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  bool aborted = false;
  std::vector<HeartbeatCell> heartbeats;
  std::vector<bool> opened;
  int next = 0;
  /// All requests that test() has not yet found done.
  std::map<mlc_request *, std::unique_ptr<mlc_request>> requests;
  mlc_request *begin(void *data, size_t bytes) {
    auto result = std::make_unique<mlc_request>();
    result->data = static_cast<char *>(data);
    result->bytes = bytes;
    mlc_request *request = result.get();
    requests.emplace(request, std::move(result));
    return request;
  }
  /// Transfers from one rank to another without a partner yet; one of the two
  /// is empty.
  struct Line {
    std::deque<mlc_request *> sends, receives;
  };
  std::map<std::pair<int, int>, Line> lines;
  /// The engine's own collectives under way, in order: the ranks that have
  /// arrived, with their data.
  struct Own {
    std::vector<mlc_request *> of;
    std::vector<std::vector<size_t>> parts, receives;
    int come = 0;
  };
  std::map<uint64_t, Own> owns;
  /// Groups being made, in order: the colors, and a hub for each.
  struct Split {
    std::map<int, int> colors; // by rank
    std::map<int, std::shared_ptr<Impl>> hubs;
  };
  std::map<uint64_t, Split> splits;
  std::vector<std::weak_ptr<Impl>> groups; // which an abort ends too

  void meet(Line &line);
  void carryOut(Own &all, const mlc_operation &operation);
  void abort();
};

struct mlc_comm : EngineEnd {
  mlc_comm(std::shared_ptr<InprocHub::Impl> hub, int own)
      : hub(std::move(hub)) {
    rank = own;
    size = this->hub->ranks;
  }
  std::shared_ptr<InprocHub::Impl> hub;
  uint64_t owns = 0, splits = 0;
};

namespace {

thread_local std::shared_ptr<InprocHub::Impl> current;

constexpr const char *aborted = "aborted by another rank";

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

void abort(mlc_comm *comm, int) { comm->hub->abort(); }

mlc_status split(mlc_comm *comm, int color, int64_t timeout, int *members,
                 mlc_comm **group) {
  InprocHub::Impl &hub = *comm->hub;
  std::unique_lock<std::mutex> lock(hub.mutex);
  InprocHub::Impl::Split &split = hub.splits[comm->splits++];
  split.colors[comm->rank] = color;
  hub.changed.notify_all();
  auto all = [&] {
    return split.colors.size() == static_cast<size_t>(hub.ranks) || hub.aborted;
  };
  if (!hub.changed.wait_for(lock, std::chrono::nanoseconds(timeout), all))
    return comm->failed(MLC_RESOURCES, "not all ranks have come to a split");
  if (hub.aborted)
    return comm->failed(MLC_DEVICE, aborted);
  *group = nullptr;
  if (color < 0)
    return MLC_OK;
  int size = 0, rank = 0;
  for (auto [other, its] : split.colors) {
    if (its == color)
      members[size++] = other;
    rank += its == color && other < comm->rank;
  }
  std::shared_ptr<InprocHub::Impl> &own = split.hubs[color];
  if (!own) {
    own = std::make_shared<InprocHub::Impl>(size);
    hub.groups.push_back(own);
  }
  *group = new mlc_comm(own, rank);
  return MLC_OK;
}

mlc_status begin(mlc_comm *comm, int peer, bool isSend, void *data,
                 size_t bytes, mlc_request **request) {
  InprocHub::Impl &hub = *comm->hub;
  if (peer < 0 || peer >= hub.ranks || peer == comm->rank)
    return comm->failed(MLC_USAGE, "a transfer with a rank that is none");
  std::lock_guard<std::mutex> lock(hub.mutex);
  // The memory of requests may be gone by now.
  if (hub.aborted)
    return comm->failed(MLC_DEVICE, aborted);
  *request = hub.begin(data, bytes);
  auto &line = hub.lines[isSend ? std::make_pair(comm->rank, peer)
                                : std::make_pair(peer, comm->rank)];
  (isSend ? line.sends : line.receives).push_back(*request);
  comm->count(isSend, bytes);
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

mlc_status collective(mlc_comm *comm, const mlc_operation *operation,
                      void *data, mlc_request **request) {
  if (reduces(operation->kind) && !isSummable(operation->type))
    return comm->failed(MLC_UNSUPPORTED, "elements of this type have no sum");
  InprocHub::Impl &hub = *comm->hub;
  std::lock_guard<std::mutex> lock(hub.mutex);
  if (hub.aborted)
    return comm->failed(MLC_DEVICE, aborted);
  *request = hub.begin(data, operation->elements * operation->element_size);
  const uint64_t number = comm->owns++;
  InprocHub::Impl::Own &all = hub.owns[number];
  all.of.resize(hub.ranks);
  all.of[comm->rank] = *request;
  all.parts.resize(hub.ranks);
  all.receives.resize(hub.ranks);
  if (operation->parts)
    all.parts[comm->rank] = beginsOf(operation->parts, hub.ranks);
  if (operation->receives)
    all.receives[comm->rank] = beginsOf(operation->receives, hub.ranks);
  if (++all.come == hub.ranks) {
    hub.carryOut(all, *operation);
    hub.owns.erase(number);
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
  // Others may still match it; the hub frees it.
  if (!request->done)
    return comm->failed(MLC_DEVICE, aborted);
  const bool wrong = request->wrongLength;
  hub.requests.erase(request);
  return wrong ? comm->failed(MLC_INTERNAL, "a send and a receive differ")
               : MLC_OK;
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  comm->hub->heartbeats[comm->rank].write(*notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return comm->hub->heartbeats[rank].read(*notice);
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

/// Computes a rank's new elements from those of all. The lock is held.
static std::vector<char> resultOf(const InprocHub::Impl::Own &all, int rank,
                                  const mlc_operation &operation) {
  const size_t size = operation.element_size;
  const mlc_request &own = *all.of[rank];
  std::vector<char> result(own.data, own.data + own.bytes);
  auto place = [&](const std::vector<size_t> &begins, int part) {
    return std::make_pair(begins[part] * size,
                          (begins[part + 1] - begins[part]) * size);
  };
  const int ranks = static_cast<int>(all.of.size());
  if (reduces(operation.kind)) {
    std::memcpy(result.data(), all.of[0]->data, own.bytes);
    for (int other = 1; other < ranks; ++other)
      combine(operation.reduction, operation.type, result.data(),
              all.of[other]->data, static_cast<int64_t>(operation.elements));
  }
  if (operation.kind == MLC_BROADCAST)
    std::memcpy(result.data(), all.of[operation.root]->data, own.bytes);
  for (int other = 0; other < ranks; ++other) {
    const char *from = all.of[other]->data;
    if (operation.kind == MLC_ALL_GATHER) {
      auto [at, bytes] = place(all.parts[rank], other);
      std::memcpy(result.data() + at, from + at, bytes);
    } else if (operation.kind == MLC_ALL_TO_ALL) {
      auto [at, bytes] = place(all.receives[rank], other);
      std::memcpy(result.data() + at,
                  from + place(all.parts[other], rank).first, bytes);
    }
  }
  return result;
}

void InprocHub::Impl::carryOut(Own &all, const mlc_operation &operation) {
  bool wrong = false;
  for (mlc_request *request : all.of)
    wrong |= request->bytes != all.of[0]->bytes;
  const size_t size = operation.element_size;
  std::vector<std::vector<char>> results;
  for (int rank = 0; rank < ranks && !wrong && all.of[0]->bytes; ++rank)
    results.push_back(resultOf(all, rank, operation));
  for (int rank = 0; rank < ranks; ++rank) {
    size_t at = 0, bytes = all.of[rank]->bytes;
    if (operation.kind == MLC_REDUCE_SCATTER) { // only its part
      at = all.parts[rank][rank] * size;
      bytes = all.parts[rank][rank + 1] * size - at;
    }
    if (!wrong && bytes)
      std::memcpy(all.of[rank]->data + at, results[rank].data() + at, bytes);
    all.of[rank]->wrongLength = wrong;
    all.of[rank]->done = true;
  }
  changed.notify_all();
}

void InprocHub::Impl::abort() {
  std::vector<std::weak_ptr<Impl>> ended;
  {
    std::lock_guard<std::mutex> lock(mutex);
    aborted = true;
    changed.notify_all();
    ended = groups;
  }
  for (std::weak_ptr<Impl> &group : ended)
    if (std::shared_ptr<Impl> one = group.lock())
      one->abort();
}

namespace mlc::runtime::transport {

InprocHub::InprocHub(int ranks) : impl(std::make_shared<Impl>(ranks)) {}

InprocHub::~InprocHub() = default;

void InprocHub::makeCurrent() { current = impl; }

const mlc_engine &inprocEngine() {
  static const mlc_engine engine = [] {
    mlc_engine table{};
    table.name = "inproc";
    table.open = open;
    table.close = close;
    table.abort = abort;
    table.split = split;
    table.send = send;
    table.receive = receive;
    table.collective = collective;
    table.test = test;
    table.publish = publish;
    table.look = look;
    return makeTable<mlc_comm>(table);
  }();
  return engine;
}

} // namespace mlc::runtime::transport
