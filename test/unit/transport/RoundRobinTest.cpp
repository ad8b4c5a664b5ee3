//===- RoundRobinTest.cpp - Sessions' collectives on several groups -------===//

#include "runtime/transport/RankThread.h"

#include <catch2/catch.hpp>

#include <thread>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

namespace {

std::vector<std::shared_ptr<Ranks>>
ranksOf(int count, unsigned groups,
        std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  RankOptions options;
  options.communication.timeout = timeout;
  options.groups = groups;
  std::vector<std::shared_ptr<Ranks>> ranks;
  REQUIRE(openThreads(count, options, ranks).ok());
  return ranks;
}

/// An all-reduce of `elements`, prepared as the `turn`-th of its program.
std::unique_ptr<Ranks::Prepared> sumOf(Ranks &ranks, uint32_t turn,
                                       int64_t elements, Status &status) {
  CollectiveCall call;
  call.algorithm = "ring";
  call.turn = turn;
  call.messages = {{elements}};
  std::unique_ptr<Ranks::Prepared> prepared;
  if (status.ok())
    status = ranks.prepare({{"data", uint32_t(ranks.size())}}, call, prepared);
  return prepared;
}

/// Two ranks start a and b in opposite orders, and the second starts a when b
/// is over: so it ends only where a wait is for one, and both are under way.
std::vector<Status> crossed(std::vector<std::shared_ptr<Ranks>> &ranks) {
  std::vector<Status> statuses(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      Status &status = statuses[r];
      std::vector<float> data[2] = {std::vector<float>(5, 1 + r),
                                    std::vector<float>(9, 3 + r)};
      std::unique_ptr<Ranks::Prepared> sums[] = {
          sumOf(*ranks[r], 0, 5, status), sumOf(*ranks[r], 1, 9, status)};
      void *memory[] = {data[0].data(), data[1].data()};
      auto start = [&](int which) {
        if (status.ok())
          ranks[r]->start(*sums[which], &memory[which], &memory[which]);
      };
      auto wait = [&](int which) {
        if (status.ok())
          status = ranks[r]->wait(*sums[which]);
      };
      if (r == 0)
        start(0);
      start(1);
      wait(1);
      if (r == 1)
        start(0);
      wait(0);
      if (status.ok() && (data[0] != std::vector<float>(5, 3) ||
                          data[1] != std::vector<float>(9, 7)))
        status = Status::error(MLC_INTERNAL, "the sums");
      if (status.ok())
        status = ranks[r]->finish();
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

} // namespace

TEST_CASE("collectives of several groups are under way at once", "[ranks]") {
  auto two = ranksOf(2, 2);
  for (const Status &status : crossed(two)) {
    INFO(status.message);
    CHECK(status.ok());
  }
  // Both sums, and a number by which ranks meet as they split.
  for (const auto &ranks : two)
    CHECK(ranks->sentBytes() == 4 * (5 + 9 + 1));
  // One group keeps one order. The sizes of what is sent differ, as soon as
  // somebody looks.
  auto one = ranksOf(2, 1);
  for (const Status &status : crossed(one))
    CHECK_FALSE(status.ok());
}

TEST_CASE("a rank that does not come to one of several groups is named",
          "[ranks]") {
  auto ranks = ranksOf(3, 3, std::chrono::milliseconds(400));
  std::vector<Status> statuses(3), others(3);
  std::vector<std::thread> threads;
  // Until all have ended: the memory of what is under way.
  std::vector<std::vector<float>> memory(9, std::vector<float>(100));
  for (int r = 0; r < 3; ++r)
    threads.emplace_back([&, r] {
      std::vector<std::unique_ptr<Ranks::Prepared>> sums;
      void *data[3];
      for (uint32_t turn = 0; turn < 3; ++turn) {
        sums.push_back(sumOf(*ranks[r], turn, 100, statuses[r]));
        data[turn] = memory[3 * r + turn].data();
      }
      // Rank 1 does not come to the second.
      for (int turn = 0; turn < 3 && statuses[r].ok(); ++turn)
        if (r != 1 || turn != 1)
          ranks[r]->start(*sums[turn], &data[turn], &data[turn]);
      if (statuses[r].ok() && r != 1)
        statuses[r] = ranks[r]->wait(*sums[1]);
      if (r != 1)
        others[r] = ranks[r]->finish();
      else
        std::this_thread::sleep_for(std::chrono::seconds(2));
      ranks[r]->abort(1);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int r : {0, 2}) {
    INFO(statuses[r].message);
    CHECK(statuses[r].code == MLC_RESOURCES);
    CHECK_THAT(
        statuses[r].message,
        Contains("collective 1 of group of 'data', 2 of 3 (all-reduce") &&
            Contains("rank 1"));
    CHECK(others[r].message == statuses[r].message);
  }
}

TEST_CASE("numbers of groups that differ, or cannot be, are named", "[ranks]") {
  RankOptions options;
  options.engine = &inprocEngine();
  options.size = 2;
  options.hub = std::make_shared<InprocHub>(2);
  std::vector<std::shared_ptr<Ranks>> ranks(2);
  for (int r = 0; r < 2; ++r) {
    options.rank = r;
    options.groups = 2 + r;
    REQUIRE(openRanks(options, ranks[r]).ok());
  }
  std::vector<Status> statuses(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      sumOf(*ranks[r], 1, 5, statuses[r]);
      // The other may be in the engine's split.
      ranks[r]->abort(1);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Status &status : statuses)
    CHECK_THAT(status.message,
               Contains("groups of 'data', 2 of ") &&
                   (Contains("is in another") || Contains("has given up") ||
                    Contains("give all the same number of groups")));
  for (unsigned groups : {0u, 65u}) {
    options.groups = groups;
    std::shared_ptr<Ranks> none;
    CHECK_THAT(openRanks(options, none).message,
               Contains("groups of ranks; give 1 to 64"));
  }
}
