//===- GenerateTest.cpp - The schedules of the literature -----------------===//

#include "runtime/schedule/Generate.h"
#include "Clock.h"
#include "Samples.h"
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Matchers::Contains;

namespace {

ScheduleOptions sized(const std::string &name, int64_t ranks,
                      int64_t microBatches, int64_t chunks = 0) {
  ScheduleOptions options;
  options.name = name;
  options.ranks = ranks;
  options.microBatches = microBatches;
  options.chunks = chunks;
  return options;
}

ScheduleOptions shared(const std::string &name, std::vector<int64_t> replicas,
                       int64_t microBatches) {
  ScheduleOptions options;
  options.name = name;
  options.microBatches = microBatches;
  options.replicas = std::move(replicas);
  return options;
}

Table made(const ScheduleOptions &options) {
  Table table;
  Status status = generate(options, table);
  INFO(options.name << " " << options.ranks << " ranks, "
                    << options.microBatches << ": " << status.message);
  REQUIRE(status.ok());
  return table;
}

std::string problemOf(const ScheduleOptions &options) {
  Table table;
  Status status = generate(options, table);
  CHECK(status.code == MLC_USAGE);
  return status.message;
}

std::string ownName(const std::string &pytorch) {
  static const std::map<std::string, std::string> names = {
      {"GPipe", "gpipe"},
      {"1F1B", "1f1b"},
      {"Interleaved1F1B", "interleaved-1f1b"},
      {"LoopedBFS", "breadth-first"},
      {"InterleavedZeroBubble", "zero-bubble"},
      {"ZBVZeroBubble", "zbv"}};
  auto found = names.find(pytorch);
  return found == names.end() ? "" : found->second;
}

} // namespace

TEST_CASE("PyTorch's schedules are made action by action", "[schedule]") {
  int compared = 0;
  for (const PytorchTable &one : readPytorchTables()) {
    const std::string name = ownName(one.schedule);
    if (name.empty())
      continue;
    INFO(one.schedule << " " << one.ranks << " " << one.microBatches);
    CHECK(made(sized(name, one.ranks, one.microBatches, one.chunks)).text() ==
          one.csv);
    ++compared;
  }
  CHECK(compared == 49);
}

TEST_CASE("all of PyTorch's tables run", "[schedule]") {
  for (const PytorchTable &one : readPytorchTables()) {
    const Clocked run = runClock(one.table);
    CHECK(run.stuck == "");
    CHECK(run.work == 3 * int64_t(one.ranks) * one.chunks * one.microBatches);
  }
}

TEST_CASE("idle shares are those of the papers", "[schedule]") {
  for (int64_t p = 1; p <= 64; ++p) {
    for (int64_t m : {int64_t(1), int64_t(7), p, 2 * p + 1, int64_t(130)}) {
      INFO(p << " ranks, " << m << " micro-batches");
      for (const char *name : {"gpipe", "1f1b"}) {
        const Clocked run = runClock(made(sized(name, p, m)), {1, 1, 1});
        CHECK(run.hasIdleShare(p - 1, m + p - 1));
        for (int64_t s = 0; s < p; ++s)
          CHECK(run.inFlight[size_t(s)] ==
                (name == std::string("gpipe") ? m : std::min(m, p - s)));
      }
    }
    for (int64_t v : {1, 2, 3})
      for (int64_t m : {p, 2 * p, 3 * p}) {
        INFO(p << " ranks, " << m << " micro-batches, " << v << " chunks");
        for (const char *name : {"interleaved-1f1b", "breadth-first"}) {
          const Clocked run = runClock(made(sized(name, p, m, v)));
          CHECK(run.hasIdleShare(p - 1, v * m + p - 1));
          for (int64_t s = 0; s < p; ++s)
            CHECK(run.inFlight[size_t(s)] ==
                  (name == std::string("breadth-first")
                       ? v * m
                       : std::min(v * m, (v - 1) * p + 2 * (p - 1 - s) + 1)));
        }
        if (m < 2 * p)
          continue;
        CHECK(runClock(made(sized("zero-bubble", p, m, v)))
                  .hasIdleShare(p - 1, 3 * v * m + p - 1));
        if (v == 2)
          CHECK(runClock(made(sized("zbv", p, m)))
                    .hasIdleShare(p - 1, 6 * m + p - 1));
      }
  }
}

TEST_CASE("ranks share the micro-batches of a stage in turn", "[schedule]") {
  CHECK(made(shared("1f1b", {3, 1}, 6)).text() == "0F0,0F3,0B0,0B3\n"
                                                  "0F1,0F4,0B1,0B4\n"
                                                  "0F2,0F5,0B2,0B5\n"
                                                  "1F0,1B0,1F1,1B1,1F2,1B2,"
                                                  "1F3,1B3,1F4,1B4,1F5,1B5\n");
  CHECK(made(shared("gpipe", {1, 2}, 3)).text() == "0F0,0F1,0F2,0B0,0B1,0B2\n"
                                                   "1F0,1F2,1B0,1B2\n"
                                                   "1F1,1B1\n");
  // Without a second rank it is the schedule as it was.
  for (const char *name : {"1f1b", "gpipe", "pipedream", "pipedream-2bw"}) {
    ScheduleOptions options = shared(name, {1, 1, 1, 1}, 8);
    CHECK(made(options) == made(sized(name, 4, 8)));
  }
}

TEST_CASE("replicas have in flight what the paper says", "[schedule]") {
  using Counts = std::vector<int64_t>;
  for (const Counts &replicas :
       {Counts{3, 1}, {1, 3}, {2, 2}, {2, 1, 1}, {15, 1}, {1, 5, 2, 3}})
    for (int64_t m : {15, 16, 45, 61}) {
      int64_t behind = 0;
      for (int64_t one : replicas)
        behind += one;
      const Clocked run = runClock(made(shared("1f1b", replicas, m))),
                    all = runClock(made(shared("gpipe", replicas, m)));
      CHECK(run.stuck == "");
      CHECK(run.work == 3 * int64_t(replicas.size()) * m);
      size_t rank = 0;
      for (int64_t count : replicas) {
        for (int64_t i = 0; i < count; ++i, ++rank) {
          INFO(m << " micro-batches, rank " << rank);
          const int64_t own = (m - i + count - 1) / count;
          // NOAM of the first stage, and likewise of the others.
          CHECK(run.inFlight[rank] ==
                std::min(own, (behind + count - 1) / count));
          CHECK(all.inFlight[rank] == own);
        }
        behind -= count;
      }
    }
}

TEST_CASE("equal replicas have the idle share of one", "[schedule]") {
  for (int64_t p : {2, 3, 8})
    for (int64_t replicas : {2, 4})
      for (int64_t own : {1, 3, 20})
        for (const char *name : {"gpipe", "1f1b"}) {
          INFO(name << " " << p << " stages on " << replicas << " ranks each, "
                    << own << " micro-batches a rank");
          const std::vector<int64_t> all(size_t(p), replicas);
          CHECK(runClock(made(shared(name, all, own * replicas)))
                    .hasIdleShare(p - 1, own + p - 1));
        }
}

TEST_CASE("replicas of pipedream update together", "[schedule]") {
  CHECK(made(shared("pipedream", {2, 1}, 4)).text() ==
        "0F0@0,0F2@0,0B0@0,0REDUCE_GRAD,0STEP1,0B2@0,0REDUCE_GRAD,0STEP2\n"
        "0F1@0,0F3@0,0B1@0,0REDUCE_GRAD,0STEP1,0B3@0,0REDUCE_GRAD,0STEP2\n"
        "1F0@0,1B0@0,1STEP1,1F1@1,1B1@1,1STEP2,1F2@2,1B2@2,1STEP3,1F3@3,"
        "1B3@3,1STEP4\n");
  ScheduleOptions options = shared("pipedream-2bw", {1, 2}, 4);
  options.updateEvery = 2;
  CHECK(made(options).text() ==
        "0F0@0,0F1@0,0F2@0,0B0@0,0F3@0,0B1@0,0STEP1,0B2@0,0B3@0,0STEP2\n"
        "1F0@0,1B0@0,1REDUCE_GRAD,1STEP1,1F2@0,1B2@0,1REDUCE_GRAD,1STEP2\n"
        "1F1@0,1B1@0,1REDUCE_GRAD,1STEP1,1F3@0,1B3@0,1REDUCE_GRAD,1STEP2\n");
}

TEST_CASE("a rank of zero-bubble keeps what the first rank of 1f1b keeps",
          "[schedule]") {
  for (int64_t p : {2, 4, 7, 16})
    for (int64_t m : {1, 3, 8, 40}) {
      const Clocked run = runClock(made(sized("zero-bubble", p, m)));
      CHECK(run.stuck == "");
      for (int64_t kept : run.inFlight)
        CHECK(kept == std::min(m, p));
      for (int64_t kept : runClock(made(sized("zbv", p, m))).inFlight)
        CHECK(kept <= std::min(2 * m, 2 * p));
    }
}

TEST_CASE("chimera's two pipelines fill each other's gaps", "[schedule]") {
  for (int64_t d = 2; d <= 64; d += 2)
    for (int64_t units : {1, 2, 3}) {
      const int64_t n = units * d;
      // B as long as F.
      const Clocked run =
          runClock(made(sized("chimera", d, n)), UnitTimes{2, 1, 1});
      INFO(d << " stages, " << n << " micro-batches");
      CHECK(run.hasIdleShare(d - 2, 2 * n + d - 2));
      for (int64_t kept : run.inFlight) {
        CHECK(kept >= d / 2 + 1);
        CHECK(kept <= d);
      }
    }
  for (int64_t n : {1, 2, 3, 5, 7, 9, 15})
    CHECK(runClock(made(sized("chimera", 4, n))).stuck == "");
  CHECK(made(sized("chimera", 2, 4)).text() ==
        "0F0,1F1,1B1,0B0,0F2,1F3,1B3,0B2\n0F1,1F0,1B0,0B1,0F3,1F2,1B2,0B3\n");
}

TEST_CASE("terapipe runs slices in order, and back", "[schedule]") {
  ScheduleOptions options = sized("terapipe", 2, 2);
  options.slices = 2;
  CHECK(made(options).ranks[1] ==
        parsed("1F0.0,1F0.1,1F1.0,1F1.1,1B0.1,1B0.0,1B1.1,1B1.0").ranks[0]);
  options.slices = 1;
  CHECK(made(options) == made(sized("gpipe", 2, 2)));
  for (int64_t p : {1, 4, 16})
    for (int64_t slices : {2, 5}) {
      options = sized("terapipe", p, 3);
      options.slices = slices;
      CHECK(runClock(made(options)).hasIdleShare(p - 1, 3 * slices + p - 1));
    }
}

TEST_CASE("data parallelism is the shortest table", "[schedule]") {
  CHECK(made(sized("data-parallel", 2, 3)).text() ==
        "0F0,0B0,0F2,0B2,0REDUCE_GRAD,0STEP\n0F1,0B1,0REDUCE_GRAD,0STEP\n");
  CHECK(made(sized("data-parallel", 1, 1)).text() == "0F0,0B0,0STEP\n");
}

TEST_CASE("pipedream keeps as many versions as passes are under way",
          "[schedule]") {
  CHECK(made(sized("pipedream", 2, 3)).text() ==
        "0F0@0,0F1@0,0B0@0,0STEP1,0F2@1,0B1@0,0STEP2,0B2@1,0STEP3\n"
        "1F0@0,1B0@0,1STEP1,1F1@1,1B1@1,1STEP2,1F2@2,1B2@2,1STEP3\n");
  const Table table = made(sized("pipedream", 4, 12));
  for (size_t s = 0; s < 4; ++s) {
    int32_t newest = 0, mostKept = 0;
    std::map<int32_t, int32_t> versions; // of micro-batches under way
    for (const Action &action : table.ranks[s]) {
      if (action.kind == ActionKind::Forward) {
        CHECK(action.version == newest);
        versions[action.microBatch] = action.version;
        mostKept = std::max(mostKept, newest + 1 - versions.begin()->second);
      } else if (action.kind == ActionKind::Backward) {
        CHECK(action.version == versions.at(action.microBatch));
        versions.erase(action.microBatch);
      } else {
        CHECK(action.microBatch == ++newest);
      }
    }
    CHECK(newest == 12);
    CHECK(mostKept == int32_t(4 - s));
  }
}

TEST_CASE("pipedream-2bw has two versions", "[schedule]") {
  for (int64_t p : {1, 2, 4, 7})
    for (int64_t m = std::max<int64_t>(1, p - 1); m < p + 3; ++m) {
      ScheduleOptions options = sized("pipedream-2bw", p, 5 * m);
      options.updateEvery = m;
      const Table table = made(options);
      for (const std::vector<Action> &actions : table.ranks) {
        int32_t newest = 0;
        for (const Action &action : actions) {
          if (action.kind == ActionKind::Step) {
            CHECK(action.microBatch == ++newest);
            continue;
          }
          // The paper counts micro-batches from 1.
          const int64_t k = action.microBatch + 1;
          CHECK(action.version == std::max<int64_t>((k - 1) / m - 1, 0));
          CHECK(action.version <= newest);
          CHECK(action.version >= newest - 1);
        }
        CHECK(newest == 5);
      }
    }
  ScheduleOptions options = sized("pipedream-2bw", 4, 4);
  options.updateEvery = 2;
  CHECK_THAT(problemOf(options), Contains("at least 3 micro-batches"));
  options.updateEvery = 3;
  CHECK_THAT(problemOf(options), Contains("which do not divide 4"));
}

TEST_CASE("ampnet takes what comes", "[schedule]") {
  ScheduleOptions options = sized("ampnet", 2, 2);
  options.inFlight = 1; // SGD
  CHECK(made(options).text() == "0F0@0,0B0@0,0STEP1,0F1@1,0B1@1,0STEP2\n"
                                "1F0@0,1B0@0,1STEP1,1F1@1,1B1@1,1STEP2\n");
  for (int64_t p : {1, 2, 4, 8})
    for (int64_t most : {1, 2, 4, 16})
      for (int64_t every : {1, 3}) {
        options = sized("ampnet", p, 20);
        options.inFlight = most;
        options.updateEvery = every;
        const Table table = made(options);
        const Clocked run = runClock(table, {1, 1, 1});
        CHECK(run.stuck == "");
        CHECK(run.inFlight[0] <= most);
        for (const std::vector<Action> &actions : table.ranks) {
          int32_t newest = 0, gradients = 0, all = 0;
          for (const Action &action : actions) {
            if (action.kind == ActionKind::Step) {
              CHECK(action.microBatch == ++newest);
              CHECK((gradients == every || all == 20));
              gradients = 0;
              continue;
            }
            CHECK(action.version == newest);
            const bool isBackward = action.kind == ActionKind::Backward;
            gradients += isBackward;
            all += isBackward;
          }
          CHECK(all == 20);
          CHECK(gradients == 0);
        }
      }
}

TEST_CASE("sizes follow from each other", "[schedule]") {
  ScheduleOptions options = sized("interleaved-1f1b", 0, 4);
  options.stages = 8;
  CHECK(made(options) == made(sized("interleaved-1f1b", 4, 4, 2)));
  options.ranks = 2;
  CHECK(made(options) == made(sized("interleaved-1f1b", 2, 4, 4)));
  options.ranks = 0;
  options.chunks = 8;
  CHECK(made(options).ranks.size() == 1);
}

TEST_CASE("every size is served, or refused with what can be", "[schedule]") {
  int refused = 0;
  for (const ScheduleRow &row : allSchedules())
    for (int64_t ranks = 1; ranks <= 7; ++ranks)
      for (int64_t m = 1; m <= 15; ++m)
        for (int64_t chunks = 1; chunks <= (row.hasChunks ? 3 : 1); ++chunks) {
          ScheduleOptions options =
              sized(row.name, ranks, m, row.hasChunks ? chunks : 0);
          INFO(row.name << " " << ranks << " " << m << " " << chunks);
          Table table;
          Status status = generate(options, table);
          if (!status.ok()) {
            ++refused;
            CHECK_THAT(status.message, Contains("; give "));
            continue;
          }
          const Clocked run = runClock(table);
          CHECK(run.stuck == "");
          // Each stage does each micro-batch once.
          const int64_t stages = table.countStages();
          CHECK(run.work == 3 * stages * m);
          CHECK(table.countMicroBatches() == m);
        }
  CHECK(refused > 0);
}

TEST_CASE("what a schedule cannot serve is named", "[schedule]") {
  auto with = [](ScheduleOptions options, auto change) {
    change(options);
    return options;
  };
  const ScheduleOptions good = sized("gpipe", 4, 8);
  using Options = ScheduleOptions &;
  for (const auto &[options, message] :
       std::initializer_list<std::pair<ScheduleOptions, const char *>>{
           {sized("gipe", 4, 8), "no schedule 'gipe'; there are data-parallel"},
           {sized("gpipe", 4, 0), "gpipe: give a number of micro-batches"},
           {sized("gpipe", 0, 8), "give a number of stages, or of ranks"},
           {sized("gpipe", -1, 8), "there are 1 to 65536 ranks, not -1"},
           {sized("gpipe", 4, 1000000000),
            "1 to 16777216 micro-batches, not 1000000000"},
           {sized("gpipe", 65536, 16777216), "are too many for a table"},
           {sized("zbv", 65536, 1), "V of 65536 ranks is too large"},
           {sized("gpipe", 4, 8, 2), "gpipe has 1 stage a rank, not 2"},
           {sized("zbv", 4, 8, 3), "zbv has 2 stages a rank, not 3"},
           {with(good, [](Options o) { o.stages = 8; }),
            "8 stages are not 1 on each of 4 ranks; give 4 stages"},
           {with(sized("zero-bubble", 3, 8), [](Options o) { o.stages = 8; }),
            "8 stages are not 2 on each of 3 ranks; give a multiple"},
           {with(good, [](Options o) { o.slices = 2; }), "has no slices"},
           {with(good, [](Options o) { o.inFlight = 2; }),
            "has no limit of micro-batches in flight"},
           {with(good, [](Options o) { o.updateEvery = 2; }),
            "has no gradients before an update"},
           {sized("chimera", 5, 8), "give 4 or 6 stages, not 5"},
           {sized("chimera", 1, 8), "give 2 stages, not 1"},
           {sized("interleaved-1f1b", 4, 9), "give 8 or 10 micro-batches"},
           {sized("zero-bubble", 4, 9, 2), "give 8 or 10 micro-batches"},
           {sized("data-parallel", 4, 3), "of 4 ranks only 3 get one"},
           {shared("zero-bubble", {2, 2}, 4),
            "has no replicas of stages; give gpipe, 1f1b, pipedream, "
            "pipedream-2bw"},
           {shared("1f1b", {3, 0}, 4), "a stage is on 1 to 65536 ranks, not 0"},
           {shared("1f1b", {65536, 1}, 65536), "on more than 65536 ranks"},
           {shared("1f1b", {3, 1}, 2),
            "3 ranks share the micro-batches of a stage, and only 2 get one"},
           {with(shared("gpipe", {3, 1}, 6), [](Options o) { o.stages = 3; }),
            "replicas are given of 2 stages, and there are 3"},
           {with(shared("gpipe", {3, 1}, 6), [](Options o) { o.ranks = 3; }),
            "are on 4 ranks, and there are 3; give as many"},
           {shared("pipedream", {3, 1}, 8),
            "3 do not divide 8 micro-batches; give a multiple"},
           {with(shared("pipedream-2bw", {3, 1}, 8),
                 [](Options o) { o.updateEvery = 2; }),
            "at least 3 micro-batches on 4 ranks, not 2"},
           {with(sized("data-parallel", 0, 3), [](Options o) { o.stages = 1; }),
            "data-parallel: give a number of ranks"},
           {with(sized("data-parallel", 2, 3), [](Options o) { o.stages = 2; }),
            "has one stage"},
       }) {
    INFO(message);
    CHECK_THAT(problemOf(options), Contains(message));
  }
}
