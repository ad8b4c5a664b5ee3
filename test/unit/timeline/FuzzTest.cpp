//===- FuzzTest.cpp - Broken texts of tables end in errors ----------------===//
//
// Texts of generated tables, with random characters, cells and lines changed,
// are read, checked, timed and drawn. Ten times as many:
//
//   build/bin/timeline-tests "many broken texts"
//
//===----------------------------------------------------------------------===//

#include "runtime/schedule/Check.h"
#include "simulator/timeline/Pictures.h"

#include <catch2/catch.hpp>
#include <random>

using namespace mlc::simulator;
using namespace mlc::runtime;
using namespace mlc::runtime::schedule;

static std::vector<std::string> makeTexts() {
  std::vector<std::string> texts{"(0F7;7B3)OVERLAP_F_B,0F0\n"};
  for (const ScheduleRow &row : allSchedules()) {
    ScheduleOptions options;
    options.name = row.name;
    options.ranks = 2;
    options.microBatches = 4;
    options.slices = row.hasSlices ? 2 : 0;
    Table table;
    REQUIRE(generate(options, table).ok());
    texts.push_back(table.text());
    REQUIRE(addTransfers(table, readPrevious(table.countStages())).ok());
    addUpdates(table);
    texts.push_back(table.text());
  }
  return texts;
}

static void runTexts(uint32_t seed, int count) {
  std::mt19937 random(seed);
  auto draw = [&](size_t below) { return size_t(random() % below); };
  const std::vector<std::string> texts = makeTexts();
  static const char letters[] = "0123456789,\n;()@.<>FBIWSENDRECV_ \t-";
  int read = 0, timed = 0;
  for (int i = 0; i < count; ++i) {
    std::string text = texts[draw(texts.size())];
    for (size_t changes = 1 + draw(4); changes > 0 && !text.empty();
         --changes) {
      const size_t at = draw(text.size());
      const bool isDigit = text[at] >= '0' && text[at] <= '9';
      switch (draw(8)) {
      case 0:
        text[at] = letters[draw(sizeof(letters) - 1)];
        break;
      case 1:
        text.insert(at, 1, letters[draw(sizeof(letters) - 1)]);
        break;
      case 2:
        text.erase(at, 1 + draw(8));
        break;
      case 3:
        text[at] = char(random());
        break;
      default: // Most stay tables.
        if (isDigit)
          text[at] = char('0' + draw(10));
      }
    }
    Table table;
    if (!Table::parse(text, table).ok())
      continue;
    ++read;
    CheckOptions options;
    options.promise.kind = Promise::Kind(draw(4));
    options.isBuffered = draw(2);
    const Status checked = check(table, options);
    CHECK((checked.ok() || checked.code == MLC_BAD_FILE));
    Timeline timeline;
    const Status status = makeTimeline(table, {}, timeline);
    if (checked.ok()) {
      INFO(text << status.message);
      CHECK(status.ok()); // What passes can run.
    }
    if (!status.ok())
      continue;
    ++timed;
    CHECK_FALSE(drawGrid(table, timeline, {}).empty());
    CHECK_FALSE(drawSvg(table, timeline, {}).empty());
    CHECK_FALSE(drawTrace(table, timeline).empty());
  }
  CHECK(read > count / 10);
  CHECK(timed > count / 100);
}

TEST_CASE("broken texts of tables end in errors", "[timeline]") {
  runTexts(1, 10'000);
}

TEST_CASE("many broken texts", "[.]") {
  for (uint32_t seed = 2; seed < 12; ++seed)
    runTexts(seed, 10'000);
}
