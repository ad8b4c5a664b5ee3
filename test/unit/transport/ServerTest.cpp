//===- ServerTest.cpp - A parameter server with bounded staleness ---------===//

#include "Samples.h"
#include "Threads.h"
#include "runtime/transport/Reduce.h"
#include "runtime/transport/StaleServer.h"
#include "runtime/transport/Trial.h"

#include <array>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

/// Weights of each worker after each clock, by a stale server or by all-reduces
/// to a synchronous one. Gradients are any bits.
using Weights = std::vector<std::vector<std::vector<char>>>;

static std::vector<char> randomBytes(uint64_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<char> bytes(count);
  for (char &byte : bytes)
    byte = static_cast<char>(random());
  return bytes;
}

static constexpr int64_t elements = 257, clocks = 6;
static constexpr size_t bytes = elements * sizeof(float);

static std::vector<char> gradientOf(int rank, int64_t clock) {
  return randomBytes(rank * 100 + clock, bytes);
}

static Weights byServer(int ranks) {
  Weights weights(ranks);
  requireOk(onRanks(ranks, {}, [&](Communicator &world, int rank) {
    std::unique_ptr<StaleServer> server;
    Status status =
        StaleServer::open(world, {elements, MLC_F32, 0, clocks}, server);
    if (!status.ok())
      return status;
    std::vector<char> all = randomBytes(7, bytes);
    if (server->isServer())
      return server->serve(all.data(), [&](void *to, const void *by,
                                           const StaleServer::Push &push) {
        add(MLC_F32, to, by, elements);
        return push.worker == -1 && push.clock == push.slowest
                   ? Status::success()
                   : Status::error(MLC_INTERNAL, "not a sum of a clock");
      });
    for (int64_t clock = 0; clock < clocks && status.ok(); ++clock) {
      const std::vector<char> gradient = gradientOf(rank, clock);
      server->push(gradient.data());
      status = server->pull(all.data());
      weights[rank].push_back(all);
    }
    return status;
  }));
  return weights;
}

static Weights bySums(int ranks) {
  Weights weights(ranks);
  requireOk(onRanks(ranks, {}, [&](Communicator &world, int rank) {
    std::vector<char> all = randomBytes(7, bytes);
    Status status = Status::success();
    for (int64_t clock = 0; clock < clocks && status.ok(); ++clock) {
      std::vector<char> sum = gradientOf(rank, clock);
      status =
          world.run({Collective::AllReduce, Algorithm::Server, ranks, elements},
                    MLC_F32, sum.data());
      add(MLC_F32, all.data(), sum.data(), elements);
      if (rank < ranks - 1)
        weights[rank].push_back(all);
    }
    return status;
  }));
  return weights;
}

TEST_CASE("without staleness it is the synchronous server, bit for bit",
          "[server]") {
  for (int ranks : {2, 3, 5})
    CHECK(byServer(ranks) == bySums(ranks));
}

TEST_CASE("workers go ahead as far as they may, and no further", "[server]") {
  for (int64_t staleness : {0, 1, 4}) {
    TrialOptions options;
    options.algorithm = Algorithm::Server;
    options.elements = 30;
    options.steps = 20;
    options.staleness = staleness;
    options.straggle = std::chrono::milliseconds(5);
    TrialResult result;
    REQUIRE(runTrialInProcess(4, {}, options, result).ok());
    int64_t lead = 0;
    for (const TrialResult::Rank &rank : result.ranks) {
      CHECK(rank.right);
      CHECK(rank.sentBytes == (&rank == &result.ranks[3] ? 3 : 1) * 20 * 120);
      lead = std::max(lead, rank.lead);
    }
    // Rank 0 sleeps, so that the others run into the bound.
    CHECK(lead == staleness);
  }
}

TEST_CASE("a server that cannot apply a gradient ends all", "[server]") {
  for (int64_t staleness : {0, 2}) {
    // Assertions are for one thread.
    std::array<size_t, 3> kept{};
    auto results = onRanks(3, {}, [&](Communicator &world, int rank) {
      std::unique_ptr<StaleServer> server;
      static float weights[3][4];
      Status status =
          StaleServer::open(world, {4, MLC_F32, staleness, 5, false}, server);
      if (status.ok() && server->isServer())
        status =
            server->serve(weights[rank], [](void *, const void *,
                                            const StaleServer::Push &push) {
              return push.slowest < 3
                         ? Status::success()
                         : Status::error(MLC_RESOURCES, "no space");
            });
      for (int clock = 0; rank < 2 && clock < 5 && status.ok(); ++clock) {
        server->push(weights[rank]);
        status = server->pull(weights[rank]);
      }
      if (server)
        kept[rank] = server->records().size();
      if (!status.ok())
        keep(std::move(server))->abort(world, 1);
      return status;
    });
    CHECK(kept == std::array<size_t, 3>{});
    CHECK_THAT(results[2].message, Contains("no space"));
    CHECK_FALSE(results[0].ok());
    CHECK_FALSE(results[1].ok());
  }
}

TEST_CASE("a server alone, and one whose worker does not come", "[server]") {
  TrialOptions options;
  options.algorithm = Algorithm::Server;
  options.elements = 4;
  options.steps = 1;
  TrialResult result;
  Status status = runTrialInProcess(1, {}, options, result);
  CHECK(status.code == MLC_USAGE);

  Communicator::Options communication;
  communication.timeout = std::chrono::milliseconds(300);
  auto results = onRanks(3, communication, [&](Communicator &world, int rank) {
    std::unique_ptr<StaleServer> server;
    static float weights[3][4];
    Status status = StaleServer::open(world, {4, MLC_F32, 0, 1}, server);
    if (rank == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(3));
      keep(std::move(server));
      return status;
    }
    if (status.ok() && server->isServer())
      status = server->serve(
          weights[rank], [](void *, const void *, const StaleServer::Push &) {
            return Status::success();
          });
    else if (status.ok()) {
      server->push(weights[rank]);
      status = server->pull(weights[rank]);
    }
    if (!status.ok())
      keep(std::move(server))->abort(world, 1);
    return status;
  });
  CHECK_THAT(results[2].message,
             Contains("of group server and worker 0 (push of 4 f32)") &&
                 Contains("rank 0"));
  CHECK_FALSE(results[1].ok());
}
