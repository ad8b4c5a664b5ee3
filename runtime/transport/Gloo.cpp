//===- Gloo.cpp - The engine Gloo, a plugin -------------------------------===//
//
// Built if Gloo is installed. Ranks meet at MASTER_ADDR and MASTER_PORT. A
// timeout of Gloo's waits closes the connection, so threads wait without a
// timeout, one for each peer and direction.
//
// Gloo ends the process if a message is longer than the receive. So the slot of
// a message is its length: messages of different lengths never match, and the
// ranks' notices reveal the mismatch.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Gloo.h"

#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdio>
#include <unistd.h>

using namespace mlc::runtime::transport;
using Clock = std::chrono::steady_clock;

namespace {

/// Gloo's view of the store; Gloo passes on its exceptions.
struct Notes : gloo::rendezvous::Store {
  Notes(mlc_comm &comm, Clock::time_point deadline)
      : comm(comm), deadline(deadline) {}
  void set(const std::string &key, const std::vector<char> &data) override {
    comm.rendezvous->notes().set(comm.prefix + "/gloo/" + key,
                                 std::string(data.begin(), data.end()));
  }
  std::vector<char> get(const std::string &key) override {
    std::string value;
    if (std::string error = comm.rendezvous->wait(
            comm.prefix + "/gloo/" + key, value, "rank " + key, deadline);
        !error.empty())
      throw std::runtime_error(error);
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
  mlc_comm &comm;
  Clock::time_point deadline;
};

/// Connects the ranks of `comm`, which have met. Returns an error, or nothing.
std::string connect(mlc_comm &comm, Clock::time_point deadline) try {
  gloo::transport::tcp::attr attribute(
      comm.rendezvous->notes().ownAddress().c_str());
  auto device = gloo::transport::tcp::CreateDevice(attribute);
  comm.context =
      std::make_shared<gloo::rendezvous::Context>(comm.rank, comm.size);
  // Gloo waits five times this long for the first message of a rank.
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
      (deadline - Clock::now()) / 5);
  comm.context->setTimeout(std::max(time, std::chrono::milliseconds(1)));
  Notes notes(comm, deadline);
  comm.context->connectFullMesh(notes, device);
  comm.context->setTimeout(forever);
  return "";
} catch (const std::exception &exception) {
  return comm.explain(exception.what());
}

void close(mlc_comm *comm) {
  {
    std::lock_guard<std::mutex> lock(comm->mutex);
    comm->closing = true;
  }
  comm->changed.notify_all();
  for (auto &line : comm->lines)
    line.second.thread.join();
  comm->context.reset();
  delete comm;
}

mlc_status open(const mlc_world *world, mlc_comm **comm, char *text,
                size_t size) {
  auto refuse = [&](mlc_status code, const std::string &what) {
    snprintf(text, size, "%s", what.c_str());
    return code;
  };
  if (world->rank < 0 || world->size < 1)
    return refuse(MLC_USAGE,
                  "RANK and WORLD_SIZE are not set; start ranks by mlc launch");
  if (world->device >= 0)
    return refuse(MLC_UNSUPPORTED,
                  "it has no memory of GPUs; take the engine nccl");
  auto *result = new mlc_comm;
  const Clock::time_point deadline =
      Clock::now() + std::chrono::nanoseconds(world->timeout);
  std::string error = result->join(*world, deadline);
  if (error.empty())
    error = connect(*result, deadline);
  if (error.empty()) {
    *comm = result;
    return MLC_OK;
  }
  result->leave();
  close(result);
  return refuse(MLC_RESOURCES, error);
}

mlc_status split(mlc_comm *comm, int color, int64_t timeout, int *members,
                 mlc_comm **group) {
  const Clock::time_point deadline =
      Clock::now() + std::chrono::nanoseconds(timeout);
  auto *result = new mlc_comm;
  std::string error = comm->split(color, deadline, members, *result);
  if (error.empty() && result->size)
    error = connect(*result, deadline);
  *group = error.empty() && result->size ? result : nullptr;
  if (!*group)
    close(result);
  return error.empty() ? MLC_OK : comm->failed(MLC_RESOURCES, error);
}

/// Connections end with the process; the launcher ends the other ranks.
void abort(mlc_comm *, int code) { _exit(code); }

/// Waits, on a thread, for the transfers with one peer.
void waitFor(mlc_comm *comm, GlooLine &line, bool isSend) {
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
      result->buffer->send(peer, bytes);
    else
      result->buffer->recv(peer, bytes);
    std::lock_guard<std::mutex> lock(comm->mutex);
    GlooLine &line = comm->lines[{peer, isSend}];
    line.requests.push_back(result.get());
    *request = result.release();
    if (!line.thread.joinable())
      line.thread =
          std::thread([comm, &line, isSend] { waitFor(comm, line, isSend); });
  } catch (const std::exception &exception) {
    return comm->failed(MLC_DEVICE, exception.what());
  }
  comm->changed.notify_all();
  comm->count(isSend, bytes);
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
  if (request->own.joinable())
    request->own.join();
  std::string failure = std::move(request->failure);
  delete request;
  return failure.empty() ? MLC_OK : comm->failed(MLC_DEVICE, failure);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const mlc_engine *
mlc_engine_v4(void) {
  static const mlc_engine engine = [] {
    mlc_engine table{};
    table.name = "gloo";
    table.open = open;
    table.close = close;
    table.abort = abort;
    table.split = split;
    table.send = send;
    table.receive = receive;
    table.collective = glooCollective;
    table.test = test;
    table.publish = publishOnBoard<mlc_comm>;
    table.look = lookOnBoard<mlc_comm>;
    return makeTable<mlc_comm>(table);
  }();
  return &engine;
}
