//===- VersionsTest.cpp - Versions of weights that a table needs ----------===//

#include "runtime/schedule/Versions.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Matchers::Contains;

namespace {

Table made(const std::string &name, int64_t stages, int64_t microBatches,
           int64_t every = 0) {
  ScheduleOptions options;
  options.name = name;
  options.stages = stages;
  options.microBatches = microBatches;
  options.updateEvery = every;
  Table table;
  Status status = generate(options, table);
  INFO(name << ": " << status.message);
  REQUIRE(status.ok());
  return table;
}

Table parsed(const char *text) {
  Table table;
  REQUIRE(Table::parse(text, table).ok());
  return table;
}

std::vector<StageVersions> versionsOf(const Table &table) {
  std::vector<StageVersions> found;
  Status status = findVersions(table, found);
  INFO(status.message);
  REQUIRE(status.ok());
  return found;
}

/// Runs a rank on slots, where an update writes into the slot of its version:
/// what each pass reads has to be the version that it names.
void run(const std::vector<Action> &actions, const StageVersions &stage) {
  std::map<int32_t, int32_t> slots = {{0, 0}};
  int32_t newest = 0;
  for (const Action &action : actions) {
    if (action.kind == ActionKind::Step) {
      const int32_t from = stage.slotOf[size_t(newest)];
      const int32_t to = stage.slotOf[size_t(newest) + 1];
      CHECK(slots.at(from) == newest);
      CHECK((from != to || stage.slots == 1));
      CHECK(to < stage.slots);
      slots[to] = ++newest;
      continue;
    }
    CHECK(slots.at(stage.slotOf[size_t(action.version)]) == action.version);
  }
  CHECK(int32_t(slots.size()) == stage.slots);
}

} // namespace

TEST_CASE("pipedream keeps p - s versions", "[versions]") {
  for (int64_t p : {1, 2, 3, 4, 7})
    for (int64_t m : {1, 2, 5, 16}) {
      const Table table = made("pipedream", p, m);
      const std::vector<StageVersions> all = versionsOf(table);
      for (int64_t s = 0; s < p; ++s) {
        INFO(p << " stages, " << m << " micro-batches, stage " << s);
        if (m > 2 * p)
          CHECK(all[size_t(s)].slots == p - s);
        CHECK(all[size_t(s)].slots <= p - s);
        CHECK(all[size_t(s)].gradients == std::vector<int64_t>(size_t(m), 1));
        run(table.ranks[size_t(s)], all[size_t(s)]);
      }
    }
}

TEST_CASE("pipedream-2bw keeps two versions", "[versions]") {
  for (auto [p, m, every] : {std::tuple(2, 8, 2), {4, 12, 4}, {4, 24, 6}}) {
    const Table table = made("pipedream-2bw", p, m, every);
    size_t stage = 0;
    for (const StageVersions &one : versionsOf(table)) {
      CHECK(one.slots == 2);
      CHECK(one.gradients == std::vector<int64_t>(size_t(m / every), every));
      CHECK(one.updateOf[size_t(every)] == 1);
      run(table.ranks[stage++], one);
    }
  }
}

TEST_CASE("what reads the newest version is updated in place", "[versions]") {
  const Table table = made("ampnet", 3, 7, 3);
  CHECK(isAsynchronous(table));
  for (const StageVersions &one : versionsOf(table)) {
    CHECK(one.slots == 1);
    CHECK(one.gradients == std::vector<int64_t>{3, 3, 1});
  }
}

TEST_CASE("one update at the end is synchronous", "[versions]") {
  CHECK(!isAsynchronous(made("1f1b", 4, 4)));
  CHECK(!isAsynchronous(made("pipedream-2bw", 2, 2, 2)));
  CHECK(!isAsynchronous(parsed("0F0@0,0F1@0,0B0@0,0B1@0,0STEP")));
  CHECK(isAsynchronous(parsed("0F0,0B0,0STEP,0F1,0B1,0STEP")));
}

TEST_CASE("ranks that share a stage have its versions alike", "[versions]") {
  for (const std::vector<int64_t> &replicas :
       {std::vector<int64_t>{3, 1}, {1, 3}, {2, 2}, {2, 1, 1}, {1, 2, 6, 3}})
    for (const char *name : {"pipedream", "pipedream-2bw"}) {
      ScheduleOptions options;
      options.name = name;
      options.microBatches = 48;
      options.replicas = replicas;
      options.updateEvery = name == std::string("pipedream") ? 0 : 12;
      Table table;
      REQUIRE(generate(options, table).ok());
      Table sent = table;
      REQUIRE(addTransfers(sent, readPrevious(table.countStages())).ok());
      CHECK(check(sent, promisesOf(options, sent)).message == "");
      const std::vector<StageVersions> all = versionsOf(table);
      int64_t behind = 0;
      for (int64_t one : replicas)
        behind += one;
      size_t rank = 0;
      for (size_t stage = 0; stage < replicas.size(); ++stage) {
        INFO(name << ", stage " << stage << " on " << replicas[stage]);
        const int64_t each = options.updateEvery ? 12 : replicas[stage];
        CHECK(all[stage].gradients ==
              std::vector<int64_t>(size_t(48 / each), each));
        for (int32_t k = 0; k < 48; ++k)
          CHECK(all[stage].updateOf[size_t(k)] == k / each);
        CHECK(all[stage].slots ==
              (options.updateEvery
                   ? 2
                   : (behind + replicas[stage] - 1) / replicas[stage]));
        behind -= replicas[stage];
        for (int64_t i = 0; i < replicas[stage]; ++i, ++rank) {
          std::vector<Action> actions = table.ranks[rank];
          actions.erase(std::remove_if(actions.begin(), actions.end(),
                                       [](const Action &action) {
                                         return action.kind ==
                                                ActionKind::ReduceGradients;
                                       }),
                        actions.end());
          run(actions, all[stage]);
        }
      }
    }
}

TEST_CASE("a stage's ranks update it as often", "[versions]") {
  std::vector<StageVersions> found;
  CHECK_THAT(
      findVersions(parsed("0F0,0B0,0STEP,0F2,0B2,0STEP\n0F1,0B1,0STEP"), found)
          .message,
      Contains("rank 0 updates stage 0 2 times, and rank 1 1 times"));
  CHECK_THAT(findVersions(parsed("0F0.0,0B0.0,0STEP"), found).message,
             Contains("0F0.0 is of a slice"));
}

TEST_CASE("a table keeps some promise", "[versions]") {
  for (const char *name : {"ampnet", "pipedream", "pipedream-2bw", "1f1b"})
    CHECK(checkPromises(made(name, 3, 6), {}).ok());
  Table wrong = made("pipedream", 3, 6);
  for (Action &action : wrong.ranks[0])
    if (action.kind == ActionKind::Backward && action.microBatch == 4)
      ++action.version;
  CHECK_THAT(checkPromises(wrong, {}).message,
             Contains("0B4@3: it reads version 3, promised is version 2, that "
                      "of its forward pass"));
}
