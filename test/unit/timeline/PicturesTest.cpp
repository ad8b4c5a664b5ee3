//===- PicturesTest.cpp - Timelines as text, SVG and traces ---------------===//

#include "simulator/timeline/Pictures.h"
#include "runtime/schedule/Generate.h"

#include <catch2/catch.hpp>

using namespace mlc::simulator;
using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Contains;

namespace {
struct Sample {
  explicit Sample(const std::string &csv, TimelineOptions options = {}) {
    REQUIRE(Table::parse(csv, table).ok());
    REQUIRE(makeTimeline(table, options, timeline).ok());
  }
  explicit Sample(const ScheduleOptions &options) {
    REQUIRE(generate(options, table).ok());
    REQUIRE(makeTimeline(table, {}, timeline).ok());
  }

  Table table;
  Timeline timeline;
};
} // namespace

static size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST_CASE("a text grid", "[pictures]") {
  Sample sample("0F0,0F1,0B0,0B1,0STEP\n1F0,1B0,1F1,1I1,1W1\n");
  CHECK(drawGrid(sample.table, sample.timeline, {"", 1}) ==
        "rank 0 | 0F0 0F1 .   .   0B0==== 0B1====\n"
        "rank 1 | .   1F0 1B0==== 1F1 1I1 1W1 .\n"
        "time 8, idle 1/4 = 25.0 %\n"
        "activations in flight by rank: 2 1\n");
}

TEST_CASE("a grid that is too wide is cut", "[pictures]") {
  ScheduleOptions options;
  options.name = "1f1b";
  options.ranks = 130;
  options.microBatches = 200;
  Sample sample(options);
  const std::string text = drawGrid(sample.table, sample.timeline, {});
  CHECK_THAT(text, Contains("of 987 columns and 128 of 130 ranks"));
  CHECK(text.find("rank 128") == std::string::npos);
}

TEST_CASE("an SVG has each action, times and what is kept", "[pictures]") {
  TimelineOptions options;
  options.transfer = [](int32_t, int64_t, int32_t, int32_t) { return 2; };
  Sample sample("0F0,0SEND_F0,0RECV_B0,0B0,0STEP\n"
                "1RECV_F0,1F0,1I0,1SEND_B0,1W0,1STEP\n",
                options);
  const std::string svg =
      drawSvg(sample.table, sample.timeline, {"a <b> & 'c'", 1});
  CHECK_THAT(svg, Contains("a &lt;b&gt; &amp; &#39;c&#39;"));
  CHECK_THAT(svg, Contains("<title>rank 0, 0F0: 0 to 1</title>"));
  CHECK_THAT(svg, Contains("<title>rank 1, 1W0: 5 to 6</title>"));
  CHECK_THAT(svg, Contains("2 ranks, 2 stages, 1 micro-batches; time 9"));
  CHECK_THAT(svg, Contains("idle 66.7 %"));
  CHECK(count(svg, "class='send'") == 2);
  CHECK(count(svg, "class='kept'") == 2);
  CHECK(svg == drawSvg(sample.table, sample.timeline, {"a <b> & 'c'", 1}));
  // Real times have units.
  CHECK_THAT(drawSvg(sample.table, sample.timeline, {}), Contains("9 ps"));
}

TEST_CASE("many actions are drawn together", "[pictures]") {
  ScheduleOptions options;
  options.name = "gpipe";
  options.ranks = 2;
  options.microBatches = 100'000;
  Sample sample(options);
  const std::string svg = drawSvg(sample.table, sample.timeline, {});
  CHECK(svg.size() < 2'000'000);
  CHECK_THAT(svg, Contains("actions</title>"));
}

TEST_CASE("a trace has arrows from sends to receives", "[pictures]") {
  TimelineOptions options;
  options.stages = {{1'500'000, 1, 1, 0}};
  options.bytes = [](const Action &) { return 12; };
  Sample sample("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n",
                options);
  const std::string trace = drawTrace(sample.table, sample.timeline);
  CHECK_THAT(trace, Contains("\"name\":\"1F0\",\"cat\":\"F\",\"pid\":1,"
                             "\"tid\":0,\"ts\":1.500000,\"dur\":1.500000"));
  CHECK_THAT(trace, Contains("\"name\":\"0SEND_F0\",\"cat\":\"SEND_F\""));
  CHECK_THAT(trace, Contains("\"bytes\":12"));
  CHECK(count(trace, "\"ph\":\"s\"") == 2);
  CHECK(count(trace, "\"ph\":\"f\"") == 2);
  CHECK(count(trace, "\"name\":\"to rank 1\"") == 1);
  // Without transfers, from what makes the data to what needs them.
  Sample bare("0F0,0B0\n1F0,1B0\n");
  CHECK(count(drawTrace(bare.table, bare.timeline), "\"ph\":\"f\"") == 2);
}
