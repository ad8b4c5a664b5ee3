//===- NetworkTest.cpp - Programs of sends over links ---------------------===//

#include "Samples.h"
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::simulator;
using runtime::transport::Algorithm;
using runtime::transport::Collective;

namespace {

constexpr double bandwidth = 2e9, latency = 7e-6;

/// Within rounding: a picosecond for each transfer that is waited for.
void expectTime(Time time, double seconds, int transfers) {
  CHECK(std::abs(time - toTime(seconds)) <= 4 * transfers + 4);
}

double log2Of(int n) { return std::ceil(std::log2(n)); }

} // namespace

TEST_CASE("programs come to their closed forms where sums are free") {
  const int n = GENERATE(2, 3, 4, 5, 8, 16);
  const Cluster cluster = flat(n + 1, bandwidth, latency);
  const int64_t elements = int64_t(n) * 720720;
  const double m = double(elements) * 4 / bandwidth; // seconds of the tensor
  const double share = double(n - 1) / n;
  const bool isPower = (n & (n - 1)) == 0;
  struct Form {
    Algorithm algorithm;
    double bytes, latencies;
  };
  const Form forms[] = {
      {Algorithm::Ring, 2 * share, 2.0 * (n - 1)},
      {Algorithm::Tree, 2 * log2Of(n), 2 * log2Of(n)},
      {Algorithm::Colocated, 2 * share, 2},
      {Algorithm::Naive, double(n - 1), 1},
      {Algorithm::Butterfly, log2Of(n), log2Of(n)},
      {Algorithm::HalvingDoubling, 2 * share, 2 * log2Of(n)},
  };
  for (const Form &form : forms) {
    const bool needsPower = form.algorithm == Algorithm::Butterfly ||
                            form.algorithm == Algorithm::HalvingDoubling;
    if (needsPower && !isPower)
      continue;
    INFO(name(form.algorithm) << " on " << n);
    expectTime(timeOf(cluster, makeCall(Collective::AllReduce, form.algorithm,
                                        firstRanks(n), elements)),
               form.bytes * m + form.latencies * latency, 4 * n);
  }
  // n workers and a server, which takes one tensor after the other.
  expectTime(timeOf(cluster, makeCall(Collective::AllReduce, Algorithm::Server,
                                      firstRanks(n + 1), elements)),
             2 * n * m + (n + 1) * latency, 4 * n);
}

TEST_CASE("other collectives come to their closed forms") {
  const int n = GENERATE(2, 4, 7);
  const Cluster cluster = flat(n, bandwidth, latency);
  const int64_t elements = int64_t(n) * n * 10000;
  const double m = double(elements) * 4 / bandwidth;
  const double share = double(n - 1) / n;
  auto time = [&](Collective collective) {
    return timeOf(cluster, makeCall(collective, Algorithm::Ring, firstRanks(n),
                                    elements));
  };
  expectTime(time(Collective::ReduceScatter), share * m + (n - 1) * latency, n);
  expectTime(time(Collective::AllGather), share * m + (n - 1) * latency, n);
  expectTime(time(Collective::Broadcast), log2Of(n) * (m + latency), n);
  expectTime(time(Collective::AllToAll), share * m + latency, n);
}

TEST_CASE("sums take time at the device's rate, beside what travels") {
  Cluster cluster = flat(4, 1e9, 0);
  cluster.devices[0].sumBytesPerSecond = Number{4e9, "test"};
  CollectiveCall call =
      makeCall(Collective::AllReduce, Algorithm::Ring, firstRanks(4), 1 << 20);
  const double part = (1 << 20) * 4.0 / 4 / 1e9;
  // Three parts are added, each behind its transfer: a quarter as long.
  expectTime(timeOf(cluster, call), 6 * part + 3 * part / 4, 12);
  // In messages, only the last one of a part is.
  call.messageBytes = 1 << 17;
  expectTime(timeOf(cluster, call), 6 * part + 3 * part / 8 / 4, 12);
  // A processor slower than the link sets the pace.
  cluster.devices[0].sumBytesPerSecond = Number{0.5e9, "test"};
  const Time slow = timeOf(cluster, call);
  CHECK(slow > toTime(3 * part + 3 * 2 * part));
  CHECK(slow < toTime((3 + 3 * 2 + 1) * part));
}

TEST_CASE("two messages under way cannot hide a long latency") {
  const Cluster cluster = flat(2, 1e9, 1e-3);
  CollectiveCall call =
      makeCall(Collective::Broadcast, Algorithm::Ring, firstRanks(2), 1 << 20);
  call.messageBytes = 1 << 16;
  // 2 messages in a latency and one message's time.
  const double rate = 2 * 65536 / (1e-3 + 65536 / 1e9);
  expectTime(timeOf(cluster, call), (1 << 22) / rate + 1e-3, 2);
}

TEST_CASE("ranks of a node share what leaves it") {
  const Cluster cluster = twoLevels(2, 4);
  const Network network(cluster);
  CHECK(cluster.levelOf(0, 3) == 0);
  CHECK(cluster.levelOf(3, 4) == 1);
  CHECK(network.transfer(5, 5, 1000) == 0);
  CHECK(network.transfer(0, 1, 10'000'000'000) == toTime(1 + 1e-6));
  CHECK(network.transfer(0, 4, 4'000'000'000) == toTime(1 + 5e-6));
  // Four pairs over the network at once: 1.5e9 bytes/s each.
  std::vector<CollectiveCall> calls;
  for (int rank = 0; rank < 4; ++rank)
    calls.push_back(makeCall(Collective::Broadcast, Algorithm::Ring,
                             {rank, rank + 4}, 375'000'000));
  std::vector<Time> times;
  REQUIRE(network.together(calls, times).ok());
  for (Time time : times)
    expectTime(time, 1 + 5e-6, 4);
  // One alone has a rank's 4e9.
  calls.resize(1);
  REQUIRE(network.together(calls, times).ok());
  expectTime(times[0], 0.375 + 5e-6, 4);
}

TEST_CASE("transfers that begin together share what leaves their node") {
  const Cluster cluster = twoLevels(2, 4);
  const Network network(cluster);
  const std::vector<std::pair<int, int>> pairs = {
      {0, 4}, {1, 5}, {2, 6}, {3, 7}};
  // Of 6e9 bytes/s of the node each has a quarter; one alone its own 4e9.
  expectTime(network.transfers(pairs, 375'000'000), 0.25 + 5e-6, 4);
  expectTime(network.transfers({pairs.data(), 1}, 375'000'000), 0.09375 + 5e-6,
             4);
  // Inside a node nothing is shared, and a rank needs no link to itself.
  const std::vector<std::pair<int, int>> inside = {{0, 1}, {2, 3}, {4, 4}};
  expectTime(network.transfers(inside, 1'000'000'000), 0.1 + 1e-6, 2);
  CHECK(network.countInNode(std::vector<int>{0, 1, 4, 5, 6}) == 2);
  CHECK(network.countInNode(std::vector<int>{5, 1, 4}) == 2);
}

TEST_CASE("unequal transfers share a link by turns as they end") {
  const Cluster cluster = twoLevels(2, 4);
  std::vector<CollectiveCall> calls = {
      makeCall(Collective::Broadcast, Algorithm::Ring, {0, 4}, 750'000'000),
      makeCall(Collective::Broadcast, Algorithm::Ring, {1, 5}, 1'500'000'000)};
  std::vector<Time> times;
  REQUIRE(Network(cluster).together(calls, times).ok());
  // 3e9 each for a second, then the second one has 4e9 for its other 3e9.
  expectTime(times[0], 1 + 5e-6, 4);
  expectTime(times[1], 1.75 + 5e-6, 4);
}

TEST_CASE("a bandwidth may depend on how many ranks exchange") {
  Cluster cluster = flat(8, 1, 0);
  cluster.levels[0].bandwidth.entries = {{2, 1e9}, {4, 3e9}, {8, 5e9}};
  CHECK(cluster.levels[0].bandwidth.at(1) == 1e9);
  CHECK(cluster.levels[0].bandwidth.at(5) == 3e9);
  for (auto [n, rate] : {std::pair(2, 1e9), {3, 1e9}, {4, 3e9}, {8, 5e9}})
    expectTime(timeOf(cluster, makeCall(Collective::AllReduce, Algorithm::Ring,
                                        firstRanks(n), 1'680'000)),
               2.0 * (n - 1) / n * 6'720'000 / rate, 4 * n);
}

TEST_CASE("a throttled link passes messages before their receives") {
  Cluster cluster = flat(3, 1e9, 0);
  CollectiveCall call = makeCall(Collective::AllReduce, Algorithm::Server,
                                 firstRanks(3), 250'000'000);
  // The server receives from one worker after the other,
  expectTime(timeOf(cluster, call), 4, 4);
  // but both may have sent at once; it then sends twice.
  cluster.levels[0].throttled = true;
  expectTime(timeOf(cluster, call), 3, 4);
  // In messages of a quarter, half of the second one's tensor waits for it.
  call.messageBytes = 250'000'000;
  expectTime(timeOf(cluster, call), 3.5, 4);
}

TEST_CASE("times have an end") {
  // A hundred thousand years are the longest time, 106 days.
  const Cluster cluster = flat(4, 1e-6, 1);
  const Time longest = std::numeric_limits<Time>::max();
  CHECK(Network(cluster).transfer(0, 1, 1 << 24) == longest);
  CHECK(timeOf(cluster, makeCall(Collective::AllReduce, Algorithm::Ring,
                                 firstRanks(4), 1 << 24)) == longest);
}

TEST_CASE("collectives of other ranks than the cluster's are refused") {
  const Cluster cluster = flat(4, 1e9, 0);
  auto messageOf = [&](std::vector<int> ranks, Algorithm algorithm) {
    Time time;
    return Network(cluster)
        .collective(makeCall(Collective::AllReduce, algorithm, ranks, 100),
                    time)
        .message;
  };
  CHECK(messageOf({0, 4}, Algorithm::Ring) ==
        "the cluster has no rank 4; it has 0 to 3");
  CHECK(messageOf({0, 0}, Algorithm::Own) == "rank 0 is given twice");
  CHECK_THAT(messageOf({0, 1, 2}, Algorithm::Butterfly),
             Catch::Contains("power of two"));
  std::vector<CollectiveCall> calls(
      2, makeCall(Collective::AllReduce, Algorithm::Ring, {0, 1}, 100));
  std::vector<Time> times;
  CHECK(Network(cluster).together(calls, times).message ==
        "rank 0 is in two groups");
}
