//===- ThrottleTest.cpp - A slow link -------------------------------------===//

#include "runtime/transport/Throttle.h"
#include "Threads.h"
#include "runtime/transport/GroupTrial.h"
#include "runtime/transport/Sample.h"

#include <cstdlib>

using namespace mlc::runtime;
using namespace mlc::runtime::transport;
using Catch::Contains;

/// Seconds of the slowest rank.
static double timeOf(const Link &link, const Request &request) {
  Communicator::Options options;
  options.link = link;
  std::vector<double> seconds(request.ranks);
  requireOk(onRanks(request.ranks, options, [&](Communicator &c, int rank) {
    std::vector<char> data(request.elements);
    fillSample(request, MLC_U8, rank, data.data());
    Status status = c.finish(); // all are here
    const auto begin = std::chrono::steady_clock::now();
    if (status.ok())
      status = c.run(request, MLC_U8, data.data());
    seconds[rank] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    return !status.ok() || isRight(request, MLC_U8, rank, data.data())
               ? status
               : Status::error(MLC_INTERNAL, "wrong");
  }));
  return *std::max_element(seconds.begin(), seconds.end());
}

TEST_CASE("a link passes so many bytes in a second", "[throttle]") {
  // 2 (N - 1) / N of 400000 bytes, at a million a second: 0.6 s.
  for (Algorithm algorithm : {Algorithm::Ring, Algorithm::Own}) {
    const double time =
        timeOf({1e6, 0}, {Collective::AllReduce, algorithm, 4, 400000});
    CHECK(time > 0.59);
    CHECK(time < 6); // on a machine that does other things
  }
}

TEST_CASE("each message takes the latency", "[throttle]") {
  // Of a ring of three four steps, one after another.
  const double time =
      timeOf({0, 0.05}, {Collective::AllReduce, Algorithm::Ring, 3, 9});
  CHECK(time > 0.199);
  CHECK(time < 4);
}

TEST_CASE("results are the same over a slow link, in groups too",
          "[throttle]") {
  Communicator::Options options;
  options.link = {1e9, 1e-5};
  requireOk(onRanks(4, options, [&](Communicator &world, int) {
    return runGroupTrial(world, {3, 300, 500, 5});
  }));
}

TEST_CASE("the environment says how slow", "[throttle]") {
  setenv("MLC_LINK_BANDWIDTH", "2e6", 1);
  Link link{0, 0.5};
  CHECK(findLink(link).ok());
  CHECK(link.bandwidth == 2e6);
  CHECK(link.latency == 0.5);
  for (const char *text : {"fast", "", "-1", "inf", "1k"}) {
    setenv("MLC_LINK_BANDWIDTH", text, 1);
    Link wrong;
    CHECK_THAT(findLink(wrong).message, Contains("MLC_LINK_BANDWIDTH is"));
  }
  unsetenv("MLC_LINK_BANDWIDTH");
}
