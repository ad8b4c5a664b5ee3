//===- TimelineTest.cpp - Times of tables ---------------------------------===//

#include "simulator/timeline/Timeline.h"
#include "runtime/schedule/Check.h"

#include <catch2/catch.hpp>

using namespace mlc::simulator;
using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Contains;

static Table parsed(const std::string &csv) {
  Table table;
  Status status = Table::parse(csv, table);
  INFO(status.message);
  REQUIRE(status.ok());
  return table;
}

static Timeline timed(const Table &table, const TimelineOptions &options = {}) {
  Timeline timeline;
  Status status = makeTimeline(table, options, timeline);
  INFO(status.message);
  REQUIRE(status.ok());
  return timeline;
}

static Table generated(const std::string &name, int64_t ranks,
                       int64_t microBatches, int64_t chunks = 0) {
  ScheduleOptions options;
  options.name = name;
  options.ranks = ranks;
  options.microBatches = microBatches;
  options.chunks = chunks;
  Table table;
  Status status = generate(options, table);
  INFO(status.message);
  REQUIRE(status.ok());
  return table;
}

static int64_t mostKept(const Table &table, const Timeline &timeline,
                        int32_t rank) {
  int64_t most = 0;
  for (const Kept &kept : activationsOverTime(table, timeline, rank))
    most = std::max(most, kept.count);
  return most;
}

TEST_CASE("actions wait for their rank and their data", "[timeline]") {
  TimelineOptions options;
  options.stages = {{10, 20, 30, 5}};
  options.bytes = [](const Action &send) { return send.stage == 0 ? 7 : 3; };
  options.transfer = [](int32_t stage, int64_t bytes, int32_t from,
                        int32_t to) {
    CHECK(stage == from);
    CHECK(to == 1 - from);
    return Time(bytes);
  };
  Table table = parsed("0F0,0F1,0B0,0B1,0STEP\n1F0,1F1,1B0,1I1,1W1,1STEP\n");
  Timeline timeline = timed(table, options);
  CHECK(timeline.ranks[1][0].start == 17);
  CHECK(timeline.ranks[1][1].start == 27);
  CHECK(timeline.ranks[0][2].start == 37 + 50 + 3);
  CHECK(timeline.ranks[0][3].start == 140);
  CHECK(timeline.ranks[0][4].end == 195);
  CHECK(timeline.span == 195);
  CHECK(timeline.busy[0] == 125);
  CHECK(timeline.idle(0) == Share{14, 39});
  CHECK(timeline.idle() == Share{14, 39});
  CHECK(timeline.transfers.size() == 4);
  std::vector<Interval> idle = bubbles(table, timeline, 0);
  REQUIRE(idle.size() == 1);
  CHECK(idle[0].start == 20);
  CHECK(idle[0].end == 90);
}

TEST_CASE("transfers begin when both ranks have come to them", "[timeline]") {
  TimelineOptions options;
  options.transfer = [](int32_t, int64_t, int32_t, int32_t) { return Time(4); };
  // The message of 1 waits for that of 0 in the channel.
  Timeline timeline =
      timed(parsed("0F0,0SEND_F0,0F1,0SEND_F1\n1RECV_F0,1RECV_F1,1F0,1F1\n"),
            options);
  CHECK(timeline.ranks[0][1].start == 1);
  CHECK(timeline.ranks[0][3].start == 5);
  CHECK(timeline.ranks[1][1].start == 5);
  CHECK(timeline.ranks[1][3].start == 9);
  // The second receive is behind 1F0.
  timeline =
      timed(parsed("0F0,0SEND_F0,0F1,0SEND_F1\n1RECV_F0,1F0,1RECV_F1,1F1\n"),
            options);
  CHECK(timeline.ranks[0][3].start == 6);
  CHECK(timeline.transfers[1].toIndex == 2);
}

TEST_CASE("collectives run beside computation", "[timeline]") {
  TimelineOptions options;
  options.collective = [](const Action &action) {
    return action.kind == ActionKind::Unshard ? Time(3) : Time(10);
  };
  Timeline timeline =
      timed(parsed("0UNSHARD,0F0,0B0,0RESHARD,0REDUCE_GRAD,0STEP\n"
                   "0UNSHARD,0F1,0B1,0F2,0B2,0RESHARD,0REDUCE_GRAD,0STEP\n"),
            options);
  CHECK(timeline.ranks[0][1].start == 3);
  CHECK(timeline.ranks[1][6].start == 9);
  CHECK(timeline.ranks[0][4].start == 9);
  CHECK(timeline.ranks[0][5].start == 19);
  CHECK(timeline.ranks[0][3].start == 6);
}

TEST_CASE("actions that overlap share a time", "[timeline]") {
  Table table = parsed("0F0,(0F1;0B0)OVERLAP_F_B,0B1\n");
  CHECK(timed(table).span == 6);
  TimelineOptions options;
  options.overlap = [](Time a, Time b) { return std::max(a, b); };
  Timeline timeline = timed(table, options);
  CHECK(timeline.span == 5);
  CHECK(timeline.busy[0] == 5);
  CHECK(timeline.ranks[0][1].start == timeline.ranks[0][2].start);
}

TEST_CASE("tables without times are refused", "[timeline]") {
  Timeline timeline;
  CHECK_THAT(makeTimeline(parsed("0F0,0F0\n"), {}, timeline).message,
             Contains("rank 0, 0F0: it is there twice"));
  CHECK_THAT(makeTimeline(parsed("1F0\n"), {}, timeline).message,
             Contains("rank 0, 1F0: no rank runs what it needs"));
  CHECK_THAT(makeTimeline(parsed("0B0,0F0\n"), {}, timeline).message,
             Contains("waits for what waits for it"));
  CHECK_THAT(makeTimeline(parsed("0F0,0SEND_F0>7\n"), {}, timeline).message,
             Contains("no rank needs it"));
  CHECK_THAT(makeTimeline(parsed("0F0\n1RECV_F0,1F0\n"), {}, timeline).message,
             Contains("no rank sends"));
  CHECK_THAT(makeTimeline(parsed("0F0,0SEND_F0\n1F0\n1RECV_F0\n"), {}, timeline)
                 .message,
             Contains("rank 2, 1RECV_F0: another rank needs it"));
  Table table = parsed("0F0\n");
  table.ranks[0][0].microBatch = 1'000'000'000;
  CHECK_THAT(makeTimeline(table, {}, timeline).message, Contains("larger"));
}

TEST_CASE("a change of a table's times", "[timeline]") {
  Table table = generated("1f1b", 4, 8);
  TableTasks tasks;
  REQUIRE(TableTasks::make(table, {}, tasks).ok());
  const Timeline before = tasks.read();
  tasks.graph().changeDuration(tasks.taskOf(2, 3), 9);
  tasks.graph().update();
  CHECK(tasks.read().span > before.span);
  TimelineOptions options;
  options.compute = [&](const Action &action) {
    return action == table.ranks[2][3] ? Time(9) : Time(1);
  };
  REQUIRE(table.ranks[2][3].kind == ActionKind::Forward);
  const Timeline full = timed(table, options), delta = tasks.read();
  for (size_t rank = 0; rank < 4; ++rank)
    for (size_t i = 0; i < table.ranks[rank].size(); ++i)
      CHECK(full.ranks[rank][i].end == delta.ranks[rank][i].end);
}

TEST_CASE("idle shares have their closed forms", "[timeline]") {
  for (int64_t p = 1; p <= 64; p += p < 9 ? 1 : 11)
    for (int64_t m : {p, 2 * p, 3 * p, 4 * p}) {
      CAPTURE(p, m);
      for (const char *name : {"gpipe", "1f1b"}) {
        Table table = generated(name, p, m);
        Timeline timeline = timed(table);
        CHECK(timeline.idle() == makeShare(p - 1, m + p - 1));
        for (int32_t s = 0; s < p; ++s)
          CHECK(mostKept(table, timeline, s) ==
                (name == std::string("gpipe") ? m : std::min(m, p - s)));
        CHECK(activationsInFlight(table)[0] == mostKept(table, timeline, 0));
      }
      for (int64_t v : {2, 3})
        CHECK(timed(generated("interleaved-1f1b", p, m, v)).idle() ==
              makeShare(p - 1, v * m + p - 1));
      if (m >= 2 * p) {
        CHECK(timed(generated("zero-bubble", p, m, 1)).idle() ==
              makeShare(p - 1, 3 * m + p - 1));
        CHECK(timed(generated("zbv", p, m)).idle() ==
              makeShare(p - 1, 3 * 2 * m + p - 1));
      }
    }
}

TEST_CASE("Chimera's idle share", "[timeline]") {
  TimelineOptions options;
  options.stages = {{2, 1, 1, 0}}; // F = B
  for (int64_t d = 2; d <= 64; d += 2)
    for (int64_t n : {d, 2 * d}) {
      CAPTURE(d, n);
      Table table = generated("chimera", d, n);
      Timeline timeline = timed(table, options);
      CHECK(timeline.idle() == makeShare(d - 2, 2 * n + d - 2));
      for (int32_t rank = 0; rank < d; ++rank) {
        CHECK(mostKept(table, timeline, rank) >= d / 2 + 1);
        CHECK(mostKept(table, timeline, rank) <= d);
      }
    }
}
