//===- GroupTest.cpp - Groups of ranks, and collectives beside the caller -===//

#include "Samples.h"
#include "Threads.h"
#include "runtime/transport/Check.h"
#include "runtime/transport/GroupTrial.h"
#include "runtime/transport/Progress.h"
#include "runtime/transport/Sample.h"

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

TEST_CASE("thousands of random steps over two to four groups", "[group]") {
  for (int ranks : {2, 3, 4})
    for (int groups : {2, 3, 4}) {
      INFO(groups << " groups of " << ranks);
      requireOk(onRanks(ranks, {}, [&](Communicator &world, int) {
        return runGroupTrial(
            world, {groups, 10000 / 9, 300, static_cast<uint64_t>(groups)});
      }));
    }
}

TEST_CASE("groups know their ranks and names", "[group]") {
  requireOk(onRanks(5, {}, [&](Communicator &world, int rank) {
    std::unique_ptr<Communicator> group, none;
    Status status = world.split(rank % 2, "odd or even", group);
    if (!status.ok())
      return status;
    if (group->size() != (rank % 2 ? 2 : 3) || group->rank() != rank / 2 ||
        group->worldRank() != rank)
      return Status::error(MLC_INTERNAL, "the group's ranks");
    status = world.split(rank == 3 ? -1 : 0, "all but 3", none);
    if (status.ok() && (none == nullptr) != (rank == 3))
      return Status::error(MLC_INTERNAL, "who is in no group");
    // Of a group's groups.
    std::unique_ptr<Communicator> half;
    if (status.ok())
      status = group->split(group->rank() % 2, "half", half);
    int32_t sum = rank;
    if (status.ok())
      status =
          half->run({Collective::AllReduce, Algorithm::Ring, half->size(), 1},
                    MLC_I32, &sum);
    const int want[] = {0 + 4, 1, 2, 3, 0 + 4};
    return status.ok() && sum != want[rank]
               ? Status::error(MLC_INTERNAL, "the sum of half a group")
               : status;
  }));
}

/// Every rank waits for the other group first: one queue would not end.
TEST_CASE("groups that are started in opposite orders", "[group]") {
  requireOk(onRanks(2, {}, [&](Communicator &world, int rank) {
    std::unique_ptr<Communicator> groups[2];
    for (auto &group : groups)
      if (Status status = world.split(0, "round-robin", group); !status.ok())
        return status;
    Progress progress;
    for (int i = 0; i < 200; ++i) {
      std::vector<int32_t> data[2] = {std::vector<int32_t>(50, rank + 1),
                                      std::vector<int32_t>(50, rank + 1)};
      const Request request{Collective::AllReduce, Algorithm::Ring, 2, 50};
      for (int j : {rank, 1 - rank}) {
        const Progress::Ticket ticket =
            progress.start(*groups[j], request, MLC_I32, data[j].data());
        if (i % 2)
          continue;
        // Started on the other group by then, or by nobody yet: do not wait.
        progress.isDone(ticket);
      }
      if (Status status = progress.waitForAll(); !status.ok())
        return status;
      for (auto &one : data)
        if (one != std::vector<int32_t>(50, 3))
          return Status::error(MLC_INTERNAL, "sum");
    }
    return Status::success();
  }));
}

TEST_CASE("several threads start collectives, each on a group of its own",
          "[group]") {
  requireOk(onRanks(2, {}, [&](Communicator &world, int rank) {
    std::unique_ptr<Communicator> groups[3];
    for (auto &group : groups)
      if (Status status = world.split(0, "of a thread", group); !status.ok())
        return status;
    Progress progress;
    Status results[3];
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        for (int step = 0; step < 300 && results[i].ok(); ++step) {
          std::vector<int32_t> data(1 + step % 40, rank + i);
          const Request request{Collective::AllReduce,
                                step % 2 ? Algorithm::Own : Algorithm::Tree, 2,
                                static_cast<int64_t>(data.size())};
          results[i] = progress.wait(
              progress.start(*groups[i], request, MLC_I32, data.data()));
          if (results[i].ok() &&
              data != std::vector<int32_t>(data.size(), 2 * i + 1))
            results[i] = Status::error(MLC_INTERNAL, "sum");
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    for (Status &result : results)
      if (!result.ok())
        return result;
    return Status::success();
  }));
}

namespace {

/// Goes on when it is told to; what has happened is in `events`.
struct Scripted : Progress::Work {
  std::string name;
  std::vector<std::string> &events;
  std::function<bool()> mayLaunch = [] { return true; };
  std::function<bool()> mayEnd = [] { return true; };
  bool launched = false, ended = false;

  Scripted(std::string name, std::vector<std::string> &events)
      : name(std::move(name)), events(events) {}
  Status begin(Communicator &) override {
    events.push_back("begin " + name);
    return Status::success();
  }
  Status advance(Communicator &, int64_t, bool &done) override {
    launched = launched || mayLaunch();
    done = ended = launched && mayEnd();
    if (done)
      events.push_back("end " + name);
    return Status::success();
  }
  bool isLaunched(const Communicator &) const override { return launched; }
};

} // namespace

TEST_CASE("what is launched in one order is under way together", "[group]") {
  requireOk(onRanks(1, {}, [](Communicator &world, int) {
    std::unique_ptr<Communicator> other;
    if (Status status = world.split(0, "second", other); !status.ok())
      return status;
    std::vector<std::string> events;
    Scripted a("a", events), b("b", events), c("c", events), d("d", events);
    int looks = 0;
    // a is launched late, and over when b is; b's follower waits for a's.
    a.mayLaunch = [&] { return ++looks > 20; };
    a.mayEnd = [&] { return b.ended; };
    c.mayLaunch = [&] { return a.ended; };
    Progress progress(Progress::Order::OfAll);
    const Progress::Ticket first = progress.start(world, a);
    const Progress::Ticket second = progress.start(*other, b);
    const Progress::Ticket third = progress.start(world, c);
    const Progress::Ticket fourth = progress.start(*other, d);
    Status status = progress.waitUntilLaunched(first);
    for (Progress::Ticket ticket : {second, first, fourth, third})
      if (status.ok())
        status = progress.wait(ticket);
    const std::vector<std::string> want = {"begin a", "begin b", "end b",
                                           "end a",   "begin c", "end c",
                                           "begin d", "end d"};
    return !status.ok() || events == want
               ? status
               : Status::error(MLC_INTERNAL, "another order");
  }));
}

TEST_CASE("a call is between what was started before and after", "[group]") {
  requireOk(onRanks(1, {}, [](Communicator &world, int) {
    std::unique_ptr<Communicator> other;
    if (Status status = world.split(0, "second", other); !status.ok())
      return status;
    std::vector<std::string> events;
    Scripted a("a", events), b("b", events), c("c", events);
    int looks = 0;
    a.mayEnd = [&] { return b.ended; };
    b.mayEnd = [&] { return ++looks > 20; };
    Progress progress;
    progress.start(world, a);
    progress.start(*other, b);
    Status status = progress.call([&] {
      events.emplace_back("call");
      return Status::success();
    });
    const Progress::Ticket third = progress.start(*other, c);
    if (status.ok())
      status = progress.wait(third);
    const std::vector<std::string> want = {"end b", "end a", "call", "begin c",
                                           "end c"};
    if (status.ok() &&
        std::vector<std::string>(events.begin() + 2, events.end()) != want)
      return Status::error(MLC_INTERNAL, "another order");
    // A call's error is everybody's, and the last is carried out yet.
    const Status failed = progress.call(
        [] { return Status::error(MLC_UNSUPPORTED, "a call's"); });
    const Progress::Ticket late = progress.start(world, a);
    bool ended = false;
    progress.end([&] { ended = true; });
    return status.ok() && (failed.message != "a call's" ||
                           progress.wait(late).message != "a call's" ||
                           !progress.wait(third).ok() || !ended)
               ? Status::error(MLC_INTERNAL, "the error of a call")
               : status;
  }));
}

TEST_CASE("a rank that is missing in one group ends who waits in another",
          "[group]") {
  Communicator::Options options;
  options.timeout = std::chrono::milliseconds(400);
  const auto begin = std::chrono::steady_clock::now();
  auto results = onRanks(3, options, [&](Communicator &world, int rank) {
    std::unique_ptr<Communicator> groups[2];
    for (int i : {0, 1})
      if (Status status = world.split(0, i ? "second" : "first", groups[i]);
          !status.ok())
        return status;
    if (rank == 2) {
      std::this_thread::sleep_for(std::chrono::seconds(4));
      return Status::success();
    }
    auto data = std::make_unique<int32_t[]>(9);
    Status status = groups[rank]->run(
        {Collective::AllReduce, Algorithm::Own, 3, 9}, MLC_I32, data.get());
    data.release(); // the group's
    for (auto &group : groups)
      keep(std::move(group));
    world.abort(1);
    return status;
  });
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
  for (int rank : {0, 1}) {
    INFO(results[rank].message);
    CHECK(results[rank].code == MLC_RESOURCES);
    CHECK_THAT(results[rank].message,
               Contains("collective 1 of group ") && Contains("rank "));
  }
}

TEST_CASE("an error of a collective is that of all that were started",
          "[group]") {
  auto results = onRanks(2, {}, [&](Communicator &world, int rank) {
    Progress progress;
    char data[8] = {};
    const Request wrong{Collective::AllReduce, Algorithm::Ring, 3, 8};
    const Progress::Ticket first = progress.start(world, wrong, MLC_U8, data);
    const Progress::Ticket second = progress.start(world, wrong, MLC_U8, data);
    Status status = progress.wait(second);
    return status.message == progress.wait(first).message
               ? status
               : Status::error(MLC_INTERNAL, "two errors");
  });
  for (const Status &status : results) {
    CHECK(status.code == MLC_USAGE);
    CHECK_THAT(status.message, Contains("of 3 ranks among 2"));
  }
}

TEST_CASE("collectives with parts of any size and any reduction", "[group]") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    Request request;
    const int ranks = 1 + static_cast<int>(random() % 5);
    request.ranks = ranks;
    request.collective = static_cast<Collective>(random() % 5);
    request.reduction = static_cast<mlc_reduction>(random() % 4);
    request.algorithm = random() % 2 ? Algorithm::Ring : Algorithm::Own;
    request.root = static_cast<int>(random() % ranks);
    const bool isAllToAll = request.collective == Collective::AllToAll;
    for (int i = 0; i < (isAllToAll ? ranks * ranks : ranks); ++i)
      request.parts.push_back(random() % 3 ? random() % 20 : 0);
    for (int64_t part : request.parts)
      request.elements += part;
    if (request.collective == Collective::AllReduce ||
        request.collective == Collective::Broadcast)
      request.parts.clear();
    const mlc_dtype type = sampleTypes[random() % std::size(sampleTypes)];
    INFO(describe(request, type) << " on " << ranks);
    requireOk(onRanks(ranks, {}, [&](Communicator &c, int rank) {
      std::vector<char> data(request.elements * mlc_dtype_size(type) + 1);
      fillSample(request, type, rank, data.data());
      Status status = c.run(request, type, data.data());
      if (!status.ok() || isRight(request, type, rank, data.data()))
        return status;
      return Status::error(MLC_INTERNAL, "wrong");
    }));
    if (request.algorithm == Algorithm::Own)
      continue;
    std::vector<Program> programs;
    std::vector<Traffic> traffic;
    REQUIRE(makePrograms(request, programs).ok());
    REQUIRE(runTogether(programs, request.elements, traffic).ok());
    int64_t sent = 0;
    for (const Traffic &one : traffic)
      sent += one.sentElements;
    CHECK(sent == expectedElements(request));
  }
}

TEST_CASE("parts that are not the elements are refused", "[group]") {
  Request request{Collective::AllGather, Algorithm::Ring, 2, 9};
  request.parts = {4, 4};
  CHECK_THAT(checkRequest(request, 0).message,
             Contains("parts that are not the 9 elements"));
  request.parts = {10, -1};
  CHECK_FALSE(checkRequest(request, 0).ok());
  request.parts = {9};
  CHECK_THAT(checkRequest(request, 0).message, Contains("give one for each"));
  request.collective = Collective::AllToAll;
  request.parts = {4, 4, 4, 4};
  CHECK(checkRequest(request, 0).ok());
  request.parts = {4, 4, 6, 4}; // 10 come to rank 0
  CHECK_FALSE(checkRequest(request, 0).ok());
  request.root = 2;
  CHECK_THAT(checkRequest(request, 0).message, Contains("ranks count from 0"));
}
