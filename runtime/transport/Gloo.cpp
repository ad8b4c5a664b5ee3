//===- Gloo.cpp - The engine Gloo, a plugin -------------------------------===//
//
// Built where Gloo is installed. Ranks find each other at MASTER_ADDR and
// MASTER_PORT. Gloo's waits end a connection when their time is over, so
// threads wait without an end, one for each peer and direction.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Board.h"
#include "runtime/transport/Store.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlc::runtime::transport;
using Clock = std::chrono::steady_clock;

struct mlc_request {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  std::thread sum; // of the engine's own
  bool done = false;
  std::string failure;
};

namespace {

const auto forever = std::chrono::hours(24 * 365);

/// Requests to or from one peer, which end in order.
struct Line {
  std::deque<mlc_request *> requests;
  std::thread thread;
};

/// Gloo's view of the store; it throws what Gloo passes on.
struct Notes : gloo::rendezvous::Store {
  Notes(StoreClient &client, Clock::time_point deadline)
      : client(client), deadline(deadline) {}
  void set(const std::string &key, const std::vector<char> &data) override {
    client.set("gloo/" + key, std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string &key) override {
    std::string value;
    if (!client.wait("gloo/" + key, value, deadline))
      throw std::runtime_error("rank " + key + " has not come");
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }
  void wait(const std::vector<std::string> &keys,
            const std::chrono::milliseconds &) override {
    wait(keys);
  }
  StoreClient &client;
  Clock::time_point deadline;
};

} // namespace

struct mlc_comm {
  int rank = 0, size = 0;
  mlc_counters counts{};
  std::string text;
  std::unique_ptr<StoreServer> server;
  std::shared_ptr<gloo::rendezvous::Context> context;
  uint32_t sums = 0;
  // What threads that wait share.
  std::mutex mutex;
  std::condition_variable changed;
  bool closing = false;
  std::map<std::pair<int, bool>, Line> lines;
  // Of this machine; null for ranks of others.
  std::vector<BoardCell *> board;
  void *memory = nullptr;
};

namespace {

mlc_status failed(mlc_comm *comm, mlc_status code, const std::string &text) {
  comm->text = text;
  return code;
}

/// This machine, and its shared memory.
std::string machine(int fd) {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  struct stat status{};
  fstat(fd, &status);
  return id + "/" + std::to_string(status.st_dev);
}

/// Empty, or what is wrong.
std::string openBoard(mlc_comm *comm, StoreClient &store,
                      Clock::time_point deadline) {
  std::string token =
      std::to_string(getpid()) + "-" + std::to_string(std::random_device()());
  if (comm->rank == 0)
    store.set("token", token);
  if (!store.wait("token", token, deadline))
    return "rank 0 has not come";
  const std::string name = "/mlc-" + token;
  const size_t bytes = sizeof(BoardCell) * comm->size;
  int fd = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)))
    return "no shared memory";
  comm->memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const std::string here = machine(fd);
  ::close(fd);
  if (comm->memory == MAP_FAILED) {
    comm->memory = nullptr;
    shm_unlink(name.c_str());
    return "no shared memory";
  }
  store.set("machine/" + std::to_string(comm->rank), here);
  auto *cells = static_cast<BoardCell *>(comm->memory);
  comm->board.assign(comm->size, nullptr);
  std::string missing;
  for (int other = 0; other < comm->size; ++other) {
    std::string where;
    if (!store.wait("machine/" + std::to_string(other), where, deadline))
      missing += (missing.empty() ? "rank " : ", ") + std::to_string(other);
    else if (where == here)
      comm->board[other] = &cells[other];
  }
  // All have it open.
  shm_unlink(name.c_str());
  return missing.empty() ? "" : missing + " has not come";
}

const char *variable(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

/// Where ranks meet; torchrun's agent listens at MASTER_PORT itself.
std::string meetingPort() {
  const std::string port = variable("MASTER_PORT");
  return std::string(variable("TORCHELASTIC_USE_AGENT_STORE")) == "True"
             ? std::to_string(std::atoi(port.c_str()) + 1)
             : port;
}

std::string join(mlc_comm *comm, Clock::time_point deadline) {
  const std::string address = variable("MASTER_ADDR"), port = meetingPort();
  if (address.empty() || port.empty())
    return "MASTER_ADDR and MASTER_PORT are not set; start ranks by mlc launch";
  const std::string where = address + ", port " + port + ": ";
  if (comm->rank == 0) {
    comm->server = std::make_unique<StoreServer>();
    if (std::string error = comm->server->start(address, port); !error.empty())
      return where + error + "; give a free port of this machine";
  }
  StoreClient store;
  if (std::string error = store.connect(address, port, deadline);
      !error.empty())
    return where + error + "; see whether rank 0 runs there";
  const std::string own = std::to_string(comm->size);
  if (!store.set("size/" + std::to_string(comm->rank), own))
    return "rank " + std::to_string(comm->rank) +
           " is there twice; give each process a RANK of its own";
  std::string size;
  if (store.wait("size/0", size, deadline) && size != own)
    return "WORLD_SIZE is " + own + " here and " + size +
           " on rank 0; set the same on all ranks";
  if (std::string error = openBoard(comm, store, deadline); !error.empty())
    return error + "; see whether all ranks have been started";
  gloo::transport::tcp::attr attribute(store.ownAddress().c_str());
  auto device = gloo::transport::tcp::CreateDevice(attribute);
  comm->context =
      std::make_shared<gloo::rendezvous::Context>(comm->rank, comm->size);
  comm->context->setTimeout(
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline -
                                                            Clock::now()));
  Notes notes(store, deadline);
  comm->context->connectFullMesh(notes, device);
  comm->context->setTimeout(forever);
  // Rank 0's server goes when all have read what they need.
  store.set("joined/" + std::to_string(comm->rank), "");
  for (int other = 0; comm->rank == 0 && other < comm->size; ++other)
    if (!store.wait("joined/" + std::to_string(other), size, deadline))
      return "rank " + std::to_string(other) + " has not come";
  return "";
}

void release(mlc_comm *comm) {
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->closing = true;
  }
  comm->changed.notify_all();
  for (auto &line : comm->lines)
    line.second.thread.join();
  comm->context.reset();
  if (comm->memory)
    munmap(comm->memory, sizeof(BoardCell) * comm->size);
  delete comm;
}

mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                size_t size) {
  if (world->rank < 0 || world->size < 1) {
    snprintf(text, size,
             "RANK and WORLD_SIZE are not set; start ranks by mlc launch");
    return MLC_USAGE;
  }
  auto *result = new mlc_comm;
  result->rank = world->rank;
  result->size = world->size;
  std::string error;
  try {
    error =
        join(result, Clock::now() + std::chrono::nanoseconds(world->timeout));
  } catch (const std::exception &exception) {
    error = std::string(exception.what()) + "; see whether all ranks run";
  }
  if (error.empty()) {
    result->server.reset();
    *comm = result;
    return MLC_OK;
  }
  snprintf(text, size, "%s", error.c_str());
  release(result);
  return MLC_RESOURCES;
}

void close(mlc_comm *comm) { release(comm); }

/// Connections end with the process; its launcher ends the others.
void abort(mlc_comm *, int code) { _exit(code); }

int rank(mlc_comm *comm) { return comm->rank; }
int size(mlc_comm *comm) { return comm->size; }
const char *error(mlc_comm *comm) { return comm->text.c_str(); }

/// Waits for what is under way with one peer, on a thread.
void waitFor(mlc_comm *comm, Line &line, bool isSend) {
  std::unique_lock<std::mutex> lock(comm->mutex);
  for (;;) {
    comm->changed.wait(lock,
                       [&] { return comm->closing || !line.requests.empty(); });
    if (line.requests.empty())
      return;
    mlc_request *request = line.requests.front();
    lock.unlock();
    std::string failure;
    try {
      if (isSend)
        request->buffer->waitSend(nullptr, forever);
      else
        request->buffer->waitRecv(nullptr, forever);
    } catch (const std::exception &exception) {
      failure = exception.what();
    }
    lock.lock();
    line.requests.pop_front();
    request->failure = failure;
    request->done = true;
    comm->changed.notify_all();
  }
}

mlc_status begin(mlc_comm *comm, int peer, bool isSend, void *data,
                 size_t bytes, mlc_request **request) {
  try {
    auto result = std::make_unique<mlc_request>();
    result->buffer = comm->context->createUnboundBuffer(data, bytes);
    if (isSend)
      result->buffer->send(peer, 0);
    else
      result->buffer->recv(peer, 0);
    std::lock_guard<std::mutex> lock(comm->mutex);
    Line &line = comm->lines[{peer, isSend}];
    line.requests.push_back(result.get());
    *request = result.release();
    if (!line.thread.joinable())
      line.thread =
          std::thread([comm, &line, isSend] { waitFor(comm, line, isSend); });
  } catch (const std::exception &exception) {
    return failed(comm, MLC_DEVICE, exception.what());
  }
  comm->changed.notify_all();
  (isSend ? comm->counts.sent_bytes : comm->counts.received_bytes) += bytes;
  ++(isSend ? comm->counts.sent_messages : comm->counts.received_messages);
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

template <typename T>
void sumOwn(mlc_comm *comm, mlc_request *request, void *data, size_t elements,
            uint32_t tag) {
  std::string failure;
  try {
    gloo::AllreduceOptions options(comm->context);
    options.setOutput(static_cast<T *>(data), elements);
    options.setReduceFunction(
        static_cast<void (*)(void *, const void *, const void *, size_t)>(
            &gloo::sum<T>));
    options.setTag(tag);
    options.setTimeout(forever);
    gloo::allreduce(options);
  } catch (const std::exception &exception) {
    failure = exception.what();
  }
  std::lock_guard<std::mutex> lock(comm->mutex);
  request->failure = failure;
  request->done = true;
  comm->changed.notify_all();
}

using Sum = void (*)(mlc_comm *, mlc_request *, void *, size_t, uint32_t);

Sum sumOf(mlc_dtype type) {
  switch (type) {
  case MLC_F32:
    return sumOwn<float>;
  case MLC_F64:
    return sumOwn<double>;
  case MLC_I8:
    return sumOwn<int8_t>;
  case MLC_I16:
    return sumOwn<int16_t>;
  case MLC_I32:
    return sumOwn<int32_t>;
  case MLC_I64:
    return sumOwn<int64_t>;
  case MLC_U8:
    return sumOwn<uint8_t>;
  case MLC_U16:
    return sumOwn<uint16_t>;
  case MLC_U32:
    return sumOwn<uint32_t>;
  case MLC_U64:
    return sumOwn<uint64_t>;
  default:
    return nullptr;
  }
}

mlc_status allReduce(mlc_comm *comm, void *data, size_t elements,
                     mlc_dtype type, mlc_request **request) {
  Sum sum = sumOf(type);
  if (!sum)
    return failed(comm, MLC_UNSUPPORTED,
                  "Gloo has no sum of this type here; take another algorithm "
                  "than own");
  try {
    auto result = std::make_unique<mlc_request>();
    const uint32_t tag = comm->sums++;
    result->done = elements == 0;
    if (elements)
      result->sum = std::thread(sum, comm, result.get(), data, elements, tag);
    *request = result.release();
  } catch (const std::exception &exception) {
    return failed(comm, MLC_DEVICE, exception.what());
  }
  return MLC_OK;
}

mlc_status test(mlc_comm *comm, mlc_request *request, int64_t nanoseconds,
                int *done) {
  {
    std::unique_lock<std::mutex> lock(comm->mutex);
    if (!request->done && nanoseconds > 0)
      comm->changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds),
                             [&] { return request->done; });
    *done = request->done;
    if (!request->done)
      return MLC_OK;
  }
  if (request->sum.joinable())
    request->sum.join();
  std::string failure = std::move(request->failure);
  delete request;
  return failure.empty() ? MLC_OK : failed(comm, MLC_DEVICE, failure);
}

void publish(mlc_comm *comm, const mlc_notice *notice) {
  comm->board[comm->rank]->write(*notice);
}

int look(mlc_comm *comm, int rank, mlc_notice *notice) {
  return comm->board[rank] && comm->board[rank]->read(*notice);
}

void counters(mlc_comm *comm, mlc_counters *counters) {
  *counters = comm->counts;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v1(void) {
  static const mlc_engine engine = {MLC_ENGINE_VERSION,
                                    "gloo",
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
  return &engine;
}
