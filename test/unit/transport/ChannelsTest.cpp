//===- ChannelsTest.cpp - Messages from one rank to another ---------------===//

#include "runtime/transport/RankThread.h"

#include <catch2/catch.hpp>

#include <functional>
#include <thread>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

namespace {

/// Runs `work` on so many ranks, which have these channels.
std::vector<Status>
onRanks(int count, const std::vector<Ranks::Channel> &channels,
        const std::function<Status(Ranks &)> &work,
        std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  RankOptions options;
  options.communication.timeout = timeout;
  std::vector<std::shared_ptr<Ranks>> ranks;
  REQUIRE(openThreads(count, options, ranks).ok());
  std::vector<Status> statuses(count);
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      Status &status = statuses[r];
      status = ranks[r]->openChannels(channels);
      if (status.ok())
        status = work(*ranks[r]);
      if (status.ok())
        status = ranks[r]->finish();
      else
        ranks[r]->abort(1);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

} // namespace

TEST_CASE("messages arrive in their order, whatever other channels do",
          "[channels]") {
  // Rank 2 takes what rank 0 has sent after what rank 1 has sent.
  std::vector<int> taken;
  uint64_t sent = 0;
  auto work = [&](Ranks &ranks) {
    std::vector<int> own(3000);
    if (ranks.rank() < 2) {
      std::vector<std::vector<int>> numbers;
      std::vector<uint64_t> messages;
      const uint64_t before = ranks.sentBytes();
      for (int i = 0; i < 3; ++i)
        numbers.emplace_back(3000, 10 * ranks.rank() + i);
      for (int i = 0; i < 3; ++i)
        messages.push_back(ranks.beginMessage(
            ranks.rank(), "number " + std::to_string(i), numbers[i].data(),
            numbers[i].size() * sizeof(int)));
      for (uint64_t message : messages)
        if (Status status = ranks.waitForMessage(message); !status.ok())
          return status;
      if (ranks.rank() == 0)
        sent = ranks.sentBytes() - before;
      return Status::success();
    }
    for (size_t channel : {1, 0})
      for (int i = 0; i < 3; ++i) {
        uint64_t message =
            ranks.beginMessage(channel, "number " + std::to_string(i),
                               own.data(), own.size() * sizeof(int));
        if (Status status = ranks.waitForMessage(message); !status.ok())
          return status;
        CHECK(own.front() == own.back());
        taken.push_back(own.front());
      }
    return Status::success();
  };
  for (const Status &status : onRanks(3, {{0, 2}, {1, 2}}, work))
    CHECK(status.message == "");
  CHECK(taken == std::vector<int>{10, 11, 12, 0, 1, 2});
  CHECK(sent == 3 * 3000 * sizeof(int));
}

TEST_CASE("a message that nobody sends ends in time and is named",
          "[channels]") {
  auto work = [&](Ranks &ranks) {
    int number = 0;
    return ranks.rank() == 0
               ? Status::success()
               : ranks.waitForMessage(ranks.beginMessage(
                     0, "activations of 3", &number, sizeof(number)));
  };
  std::vector<Status> statuses =
      onRanks(2, {{0, 1}}, work, std::chrono::milliseconds(300));
  CHECK_THAT(statuses[1].message, Contains("activations of 3"));
}

TEST_CASE("messages of another size than is expected are refused",
          "[channels]") {
  auto work = [&](Ranks &ranks) {
    int numbers[2] = {};
    return ranks.waitForMessage(
        ranks.beginMessage(0, "a", numbers, sizeof(int) * (1 + ranks.rank())));
  };
  std::vector<Status> statuses =
      onRanks(2, {{0, 1}}, work, std::chrono::milliseconds(500));
  CHECK((!statuses[0].ok() || !statuses[1].ok()));
}
