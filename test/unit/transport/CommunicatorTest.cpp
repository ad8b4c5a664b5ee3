//===- CommunicatorTest.cpp - Collectives over threads --------------------===//

#include "runtime/transport/Communicator.h"
#include "Samples.h"
#include "Threads.h"
#include "runtime/transport/Check.h"
#include "runtime/transport/Engine.h"

#include <catch2/catch.hpp>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

TEST_CASE("programs over an engine do what the check does", "[communicator]") {
  std::mt19937 random(6);
  Communicator::Options options;
  for (int trial = 0; trial < 60; ++trial) {
    const int ranks = 1 + static_cast<int>(random() % 6);
    const int64_t elements = static_cast<int64_t>(random() % 300);
    const mlc_dtype type = sampleTypes[random() % std::size(sampleTypes)];
    options.messageBytes = 8 << random() % 8;
    for (Algorithm algorithm : allAlgorithms) {
      if (!takes(algorithm, ranks))
        continue;
      Request request{Collective::AllReduce, algorithm, ranks, elements};
      INFO(describe(request, type) << " on " << ranks);
      Samples samples(random, type, ranks, workers(request), elements, false);
      Samples checked = samples;
      std::vector<Program> programs;
      REQUIRE(makePrograms(request, programs).ok());
      std::vector<Traffic> traffic;
      REQUIRE(runTogether(programs, elements, traffic, checked.pointers(), type)
                  .ok());
      std::vector<mlc_counters> counters(ranks);
      requireOk(onRanks(ranks, options, [&](Communicator &c, int rank) {
        Status status = c.run(request, type, samples.data[rank].data());
        counters[rank] = c.counters();
        return status;
      }));
      const size_t size = mlc_dtype_size(type);
      for (int rank = 0; rank < ranks; ++rank) {
        REQUIRE(samples.data[rank] == checked.data[rank]);
        CHECK(counters[rank].sent_bytes == traffic[rank].sentElements * size);
        CHECK(counters[rank].received_bytes ==
              traffic[rank].receivedElements * size);
      }
    }
  }
}

TEST_CASE("several collectives in a row, and the engine's own",
          "[communicator]") {
  std::mt19937 random(7);
  Samples samples(random, MLC_I64, 4, 4, 100, true);
  requireOk(onRanks(4, {}, [&](Communicator &c, int rank) {
    for (Algorithm algorithm : allAlgorithms) {
      if (algorithm == Algorithm::Server)
        continue;
      std::vector<char> data = samples.data[rank];
      Status status = c.run({Collective::AllReduce, algorithm, 4, 100}, MLC_I64,
                            data.data());
      if (!status.ok() || data != samples.sum)
        return status.ok() ? Status::error(MLC_INTERNAL, "sum") : status;
      data = samples.data[rank];
      status = c.run({Collective::AllReduce, Algorithm::Own, 4, 100}, MLC_I64,
                     data.data());
      if (!status.ok() || data != samples.sum)
        return status.ok() ? Status::error(MLC_INTERNAL, "own") : status;
    }
    return Status::success();
  }));
}

/// What ranks say when one of them does something else.
static std::vector<Status>
amongFour(std::chrono::milliseconds timeout,
          const std::function<Status(Communicator &)> &odd) {
  Communicator::Options options;
  options.timeout = timeout;
  std::vector<std::vector<char>> data(4, std::vector<char>(64));
  return onRanks(4, options, [&](Communicator &c, int rank) {
    Request request{Collective::AllReduce, Algorithm::Ring, 4, 64};
    Status status = c.run(request, MLC_U8, data[rank].data());
    if (!status.ok())
      return status;
    status = rank == 2 ? odd(c) : c.run(request, MLC_U8, data[rank].data());
    if (!status.ok())
      c.abort(1);
    return status;
  });
}

TEST_CASE("a rank that does not come is named", "[communicator]") {
  auto results = amongFour(std::chrono::milliseconds(300), [](Communicator &) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return Status::success();
  });
  int blamed = 0;
  for (int rank : {0, 1, 3}) {
    INFO(results[rank].message);
    CHECK(results[rank].code == MLC_RESOURCES);
    CHECK_THAT(results[rank].message,
               Contains("collective 2 (all-reduce ring of 64 u8)") &&
                   Contains("rank 2"));
    blamed += results[rank].message.find(
                  "rank 2 has not come, and was last in collective 1") !=
              std::string::npos;
  }
  CHECK(blamed >= 1);
}

TEST_CASE("a rank that ends early is named at once", "[communicator]") {
  // Long before the timeout, which would be ten minutes.
  auto results = amongFour(std::chrono::minutes(10),
                           [](Communicator &) { return Status::success(); });
  bool named = false;
  for (int rank : {0, 1, 3}) {
    CHECK(!results[rank].ok());
    named |= results[rank].message.find(
                 "rank 2 has ended after collective 1") != std::string::npos;
  }
  CHECK(named);
}

TEST_CASE("ranks that do different things are told of it", "[communicator]") {
  char data[128] = {};
  auto results = amongFour(std::chrono::minutes(10), [&](Communicator &c) {
    return c.run({Collective::AllReduce, Algorithm::Tree, 4, 64}, MLC_U8, data);
  });
  bool told = false;
  for (const Status &status : results) {
    CHECK(!status.ok());
    told |= status.message.find("is in another") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("what a launcher says is held against the engine", "[communicator]") {
  InprocHub hub(2);
  hub.makeCurrent();
  std::unique_ptr<Communicator> communicator;
  Status status = Communicator::open(inprocEngine(), 0, 3, {}, communicator);
  CHECK(status.code == MLC_USAGE);
  CHECK_THAT(status.message, Contains("rank 0 of 3 is not free among 2"));
}

TEST_CASE("an engine without GPUs is given none", "[communicator]") {
  InprocHub hub(1);
  hub.makeCurrent();
  Communicator::Options options;
  options.device = 0;
  std::unique_ptr<Communicator> communicator;
  Status status =
      Communicator::open(inprocEngine(), 0, 1, options, communicator);
  CHECK(status.code == MLC_UNSUPPORTED);
  CHECK(status.message ==
        "engine inproc does not work in the memory of GPUs; take nccl");
}

TEST_CASE("an engine that is not there is named, with the remedy",
          "[communicator]") {
  const mlc_engine *engine = nullptr;
  Status status = loadEngine("none", "", engine);
  CHECK(status.code == MLC_DEVICE);
  CHECK_THAT(status.message,
             Contains("engine none: cannot be loaded") &&
                 Contains("there are inproc, mpi, gloo and nccl"));
  CHECK_THAT(loadEngine("libz.so.1/", "", engine).message,
             Contains("cannot be loaded"));
}
