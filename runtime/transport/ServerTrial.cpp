//===- ServerTrial.cpp - Tries out a stale server -------------------------===//
//
// The gradient of worker w is one at the elements i with i mod N = w, so that
// the weights tell how often each worker has pushed.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Reduce.h"
#include "runtime/transport/Sample.h"
#include "runtime/transport/StaleServer.h"
#include "runtime/transport/Trial.h"

#include <algorithm>
#include <cstring>

namespace mlc::runtime::transport {

namespace {

/// How often each worker has pushed, according to the weights; -1: they are
/// inconsistent.
std::vector<int64_t> clocksIn(const std::vector<char> &weights, int workers,
                              const TrialOptions &options) {
  const size_t size = mlc_dtype_size(options.type);
  std::vector<int64_t> clocks(workers, -1);
  char want[8];
  for (int worker = 0; worker < workers && worker < options.elements;
       ++worker) {
    int64_t clock = -1;
    for (int64_t guess = 0; guess <= options.steps && clock < 0; ++guess) {
      storeNumber(options.type, want, static_cast<int>(guess));
      if (!std::memcmp(&weights[worker * size], want, size))
        clock = guess;
    }
    for (int64_t i = worker; i < options.elements; i += workers)
      if (std::memcmp(&weights[i * size], &weights[worker * size], size) != 0)
        clock = -1;
    clocks[worker] = clock;
  }
  return clocks;
}

Status work(StaleServer &server, const TrialOptions &options, int rank,
            std::vector<char> &gradient, std::vector<char> &weights,
            TrialResult::Rank &own) {
  const size_t size = mlc_dtype_size(options.type);
  gradient.resize(options.elements * size);
  weights = gradient;
  for (int64_t i = 0; i < options.elements; ++i)
    storeNumber(options.type, &gradient[i * size],
                i % server.workers() == rank);
  for (int64_t clock = 1; clock <= options.steps; ++clock) {
    if (rank == 0 && options.straggle.count())
      std::this_thread::sleep_for(options.straggle);
    server.push(gradient.data());
    if (Status status = server.pull(weights.data()); !status.ok())
      return status;
    const std::vector<int64_t> seen =
        clocksIn(weights, server.workers(), options);
    for (int other = 0; other < server.workers() && other < options.elements;
         ++other) {
      own.lead = std::max(own.lead, clock - seen[other]);
      own.right &= other == rank ? seen[other] == clock
                                 : seen[other] >= clock - options.staleness &&
                                       seen[other] <= clock + options.staleness;
    }
  }
  return Status::success();
}

Status serve(StaleServer &server, const TrialOptions &options,
             TrialResult::Rank &own) {
  std::vector<char> weights(options.elements * mlc_dtype_size(options.type));
  Status status =
      server.serve(weights.data(), [&](void *all, const void *gradient,
                                       const StaleServer::Push &) {
        add(options.type, all, gradient, options.elements);
        return Status::success();
      });
  if (!status.ok())
    return status;
  own.right &= server.lead() <= options.staleness;
  for (const StaleServer::Record &record : server.records())
    if (record.slowest >= 0) {
      own.lead = std::max(own.lead, record.clock - record.slowest);
      own.right &= record.clock - record.slowest <= options.staleness;
    }
  const std::vector<int64_t> seen =
      clocksIn(weights, server.workers(), options);
  for (int worker = 0; worker < server.workers() && worker < options.elements;
       ++worker)
    own.right &= seen[worker] == options.steps;
  return status;
}

} // namespace

Status runServerTrial(Communicator &world, const TrialOptions &options,
                      TrialResult &result) {
  std::unique_ptr<StaleServer> server;
  Status status = StaleServer::open(
      world, {options.elements, options.type, options.staleness, options.steps},
      server);
  if (!status.ok())
    return status;
  TrialResult::Rank own{0, 0, 0, 0, true};
  auto buffers = std::make_unique<std::vector<char>[]>(2);
  const auto begin = std::chrono::steady_clock::now();
  status = server->isServer() ? serve(*server, options, own)
                              : work(*server, options, world.rank(), buffers[0],
                                     buffers[1], own);
  if (!status.ok()) {
    // Leak both: they are in use until all ranks have ended.
    [[maybe_unused]] auto *kept = server.release();
    [[maybe_unused]] auto *theirs = buffers.release();
    return status;
  }
  own.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  const mlc_counters counters = server->counters();
  own.sentBytes = counters.sent_bytes;
  own.receivedBytes = counters.received_bytes;
  own.sentMessages = counters.sent_messages;
  server.reset();
  status = share(world, own, result);
  return status.ok() ? world.finish() : status;
}

} // namespace mlc::runtime::transport
