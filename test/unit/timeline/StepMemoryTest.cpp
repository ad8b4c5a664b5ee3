//===- StepMemoryTest.cpp - What ranks allocate ---------------------------===//

#include "simulator/timeline/StepMemory.h"
#include "runtime/schedule/Transfers.h"
#include "simulator/timeline/Waits.h"
#include "simulator/timeline/Xml.h"
#include <catch2/catch.hpp>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

namespace {

Table parsed(const char *text) {
  Table table;
  REQUIRE(Table::parse(text, table).ok());
  return table;
}

constexpr auto F = ActionKind::Forward, B = ActionKind::Backward,
               S = ActionKind::Step;

/// Two stages: 0F carries 10 bytes to 0B, and 100 to 1F, which carries 1000
/// to 1B; 1B carries 200 back.
StepMemory twoStages() {
  StepMemory step;
  step.entries = {{{0, F}, 1, 0}, {{1, F}, 2, 0},  {{0, B}, 4, 0},
                  {{1, B}, 8, 0}, {{0, S}, 16, 0}, {{1, S}, 32, 64}};
  step.values = {{{0, F}, {{0, B}}, 10},
                 {{0, F}, {{1, F}}, 100},
                 {{1, F}, {{1, B}}, 1000},
                 {{1, B}, {{0, B}}, 200}};
  step.states = {{{{0, F}, {0, S}}, 10'000, -1},
                 {{{0, B}, {0, S}}, 20'000, 0},
                 {{{1, F}, {1, S}}, 40'000, -1}};
  step.samples = 7;
  return step;
}

} // namespace

TEST_CASE("places are taken for micro-batches that wait", "[memory]") {
  Table table = parsed("0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n");
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  const std::vector<RankMemory> ranks = findMemory(table, twoStages());
  REQUIRE(ranks.size() == 2);
  // Three of what 0B reads, two places each for messages both ways.
  CHECK(ranks[0].parts().carried == 3 * 10 + 2 * 100 + 2 * 200);
  CHECK(ranks[0].parts().arenas == 1 + 4 + 16);
  CHECK(ranks[0].parts().states == 30'000);
  CHECK(ranks[0].parts().samples == 7);
  CHECK(ranks[0].parts().sums == 0);
  CHECK(ranks[1].parts().carried == 1000 + 2 * 100 + 2 * 200);
  CHECK(ranks[1].parts().scratch == 64);
  // What is taken grows, and what is in use is no more.
  for (const RankMemory &rank : ranks) {
    int64_t before = 0;
    for (const RankMemory::Point &point : rank.points) {
      CHECK(point.allocated.total() >= before);
      CHECK(point.inUse <= point.allocated.total());
      before = point.allocated.total();
    }
  }
  // The state of 1F comes with it.
  const RankMemory::Point *beyond = ranks[1].findBeyond(40'000);
  REQUIRE(beyond);
  CHECK(beyond->action == "1F0");
  CHECK_FALSE(ranks[1].findBeyond(ranks[1].parts().total()));
  CHECK(ranks[1].peak().action == "1B0");
}

TEST_CASE("ranks that have a stage have sums of each other", "[memory]") {
  Table table = parsed("0F0,1F0,0B0,1B0\n0F1,1F1,0B1,1B1\n");
  // One after the other on each rank.
  table = parsed("0F0,1F0,1B0,0B0\n0F1,1F1,1B1,0B1\n");
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  for (const RankMemory &rank : findMemory(table, twoStages())) {
    CHECK(rank.parts().sums == 2 * 20'000);
    CHECK(rank.parts().carried == 10 + 100 + 1000 + 200);
  }
}

TEST_CASE("waits name what ends them", "[waits]") {
  Table table = parsed("0F0,0B0\n1F0,1B0\n");
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  TimelineOptions options;
  options.stages = {{1'000'000, 1'000'000, 1'000'000, 0}};
  options.bytes = [](const Action &) { return 5; };
  options.transfer = [](int32_t, int64_t, int32_t, int32_t) {
    return Time(3'000'000);
  };
  Timeline timeline;
  REQUIRE(makeTimeline(table, options, timeline).ok());
  const std::vector<Wait> waits = findWaits(table, timeline, 1);
  REQUIRE(waits.size() == 2);
  CHECK(describe(waits[0], table, timeline, 1) ==
        "1F0 waits 4 us for 0SEND_F0 of rank 0: 5 bytes, sent at 1 us, 3 us on "
        "the link");
  CHECK_FALSE(waits[1].next);
  CHECK(describe(waits[1], table, timeline, 1) ==
        "5 us until other ranks are done");
}

TEST_CASE("eager messages need no receive", "[waits]") {
  // Rank 1 computes for long before it comes to its receive.
  const Table table =
      parsed("0F0,0SEND_F0>1,0B0\n2F0,2B0,1RECV_F0<0,1F0,1B0\n");
  TimelineOptions options;
  options.stages = {{1, 1, 1, 0}};
  options.reads = {{0, 1, false}};
  options.transfer = [](int32_t, int64_t, int32_t, int32_t) { return Time(2); };
  Timeline timeline;
  REQUIRE(makeTimeline(table, options, timeline).ok());
  CHECK(timeline.span == 8);
  options.isEager = true;
  REQUIRE(makeTimeline(table, options, timeline).ok());
  CHECK(timeline.span == 6);
}

TEST_CASE("any bytes are text in XML", "[xml]") {
  CHECK(escapeXml("a<b>&'\"\nc") == "a&lt;b&gt;&amp;&#39;&quot;\nc");
  CHECK(escapeXml("\x1b[0m\xff") == "\\x1b[0m\\xff");
}
