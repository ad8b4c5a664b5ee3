//===- CheckTest.cpp - Tables that cannot run are refused -----------------===//

#include "runtime/schedule/Check.h"
#include "Executor.h"
#include "Samples.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Contains;

static std::string problem(const std::string &csv, CheckOptions options = {}) {
  Table table = parsed(csv);
  Status status = check(table, options);
  CHECK(status.code == MLC_BAD_FILE);
  return status.message;
}

static bool passes(const std::string &csv, CheckOptions options = {}) {
  Table table = parsed(csv);
  Status status = check(table, options);
  INFO(status.message);
  CHECK(status.ok());
  return status.ok();
}

/// The weights versions of an asynchronous schedule.
static CheckOptions promising(Promise promise) {
  CheckOptions options;
  options.promise = promise;
  return options;
}

TEST_CASE("PyTorch's tables pass", "[check]") {
  for (const PytorchTable &one : readPytorchTables()) {
    INFO(one.schedule << " " << one.ranks << " " << one.microBatches);
    CheckOptions options;
    options.stages = one.ranks * one.chunks;
    options.microBatches = one.microBatches;
    options.isTraining = true;
    options.sumOrder = one.schedule == "LoopedBFS" ? CheckOptions::Falling
                                                   : CheckOptions::Rising;
    CHECK(check(one.table, options).message == "");
    CHECK(execute(one.table).error == "");
  }
}

TEST_CASE("numbers have to be there", "[check]") {
  CheckOptions options;
  options.stages = 2;
  options.microBatches = 1;
  CHECK_THAT(problem("0F0,0B0\n2F0,2B0\n", options),
             Contains("rank 1, cell 1, 2F0: there are 2 stages"));
  CHECK_THAT(problem("0F0,0F1,0B0\n", options),
             Contains("rank 0, cell 2, 0F1: there are 1 micro-batches"));
  CHECK_THAT(problem("0F0.0,0F0.1,0B0\n"),
             Contains("rank 0, cell 3, 0B0: it is about a whole micro-batch"));
  Table table = parsed("0F0,0B0\n");
  table.ranks[0][0].microBatch = 1'000'000'000;
  CHECK_THAT(check(table).message, Contains("rank 0: 0F0 is missing"));
  table.ranks[0][0].microBatch = -7;
  CHECK_THAT(check(table).message, Contains("numbered from 0"));
  CHECK_THAT(check(Table()).message, Contains("there is no rank"));
}

TEST_CASE("every stage runs every micro-batch once, in order", "[check]") {
  CHECK_THAT(problem("0F0,0B0\n1F0,1F1,1B0,1B1\n"),
             Contains("rank 0: 0F1 is missing"));
  CHECK_THAT(problem("0F0,0F1,0B0\n1F0,1F1,1B0,1B1\n"),
             Contains("rank 0: 0B1 is missing"));
  CHECK_THAT(problem("0F0,0I0\n"), Contains("rank 0: 0W0 is missing"));
  CHECK_THAT(problem("0F0,0F0,0B0\n"),
             Contains("rank 0, cell 2, 0F0: it is there twice, first at rank "
                      "0, cell 1, 0F0"));
  CHECK_THAT(problem("0F0,0B0,0I0,0W0\n"),
             Contains("the gradient is computed twice"));
  CHECK_THAT(problem("0B0,0F0\n"),
             Contains("rank 0, cell 1, 0B0: it runs before rank 0, cell 2, "
                      "0F0, which it needs"));
  CHECK_THAT(problem("0F0,0W0,0I0\n"), Contains("0W0: it runs before"));
  CHECK_THAT(problem("0F0,0F1,0B1\n0B0\n"),
             Contains("its forward pass runs elsewhere, at rank 0, cell 1"));
  CHECK_THAT(problem("0F0,1F0,0B0,1B0\n"), Contains("0B0: it runs before"));
  CHECK_THAT(problem("(0F0;0B0)OVERLAP_F_B\n"),
             Contains("rank 0, cell 1, 0B0: it overlaps with 0F0"));
  // Without a backward pass the table is inference.
  CHECK(passes("0F0,0F1\n1F0,1F1\n"));
  CheckOptions training;
  training.isTraining = true;
  CHECK_THAT(problem("0F0,0F1\n", training), Contains("0B0 is missing"));
}

TEST_CASE("slices wait for earlier ones, and go back", "[check]") {
  CHECK(passes("0F0.0,0F0.1,0B0.1,0B0.0\n"));
  CHECK_THAT(problem("0F0.1,0F0.0,0B0.1,0B0.0\n"),
             Contains("0F0.1: it runs before rank 0, cell 2, 0F0.0"));
  CHECK_THAT(problem("0F0.0,0F0.1,0B0.0,0B0.1\n"),
             Contains("0B0.0: it runs before rank 0, cell 4, 0B0.1"));
}

TEST_CASE("computation that waits for each other", "[check]") {
  // Stage 0 wants the gradient of 0 before it has run 1.
  CHECK_THAT(problem("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n"),
             Contains("rank 0, cell 2, 0B0: a deadlock: it waits for rank 1, "
                      "cell 3, 1B0, where rank 1, cell 2, 1F1 waits for rank "
                      "0, cell 3, 0F1"));
}

TEST_CASE("gradients reach an update", "[check]") {
  CHECK(passes("0F0,0F1,0B0,0B1,0STEP1\n"));
  CHECK_THAT(problem("0F0,0F1,0B0,0STEP,0B1\n"),
             Contains("rank 0, cell 5, 0B1: it comes after the update"));
  CHECK_THAT(problem("0F0,0B0,0STEP\n1F0,1B0\n"),
             Contains("rank 1, cell 2, 1B0: its gradient never reaches"));
  CHECK_THAT(problem("0F0,0STEP,0B0\n"), Contains("no gradient was added"));
  CHECK_THAT(problem("0F0,0B0,0STEP2\n"),
             Contains("it makes version 2, the next is version 1"));
  CHECK_THAT(problem("0F0,0B0,0STEP,0STEP\n"), Contains("no gradient"));
  CheckOptions options;
  options.updates = 1;
  CHECK_THAT(problem("0F0,0B0\n", options), Contains("never reaches"));
  // A table without updates has none anywhere.
  CHECK(passes("0F0,0B0\n1F0,1B0\n"));
  CHECK_THAT(problem("0F0,0B0,0STEP\n1F0,1B0,0STEP,1STEP\n"),
             Contains("rank 1, cell 3, 0STEP: the rank does not run the "
                      "stage"));
}

TEST_CASE("ranks of a stage add their gradients", "[check]") {
  CHECK(passes("0F0,0B0,0REDUCE_GRAD,0STEP\n0F1,0B1,0REDUCE_GRAD,0STEP\n"));
  CHECK_THAT(problem("0F0,0B0,0STEP\n0F1,0B1,0STEP\n"),
             Contains("rank 0, cell 3, 0STEP: the gradient of rank 0, cell 2, "
                      "0B0 is not summed"));
  CHECK_THAT(problem("0F0,0B0,0REDUCE_GRAD\n0F1,0B1\n"),
             Contains("rank 1: 0REDUCE_GRAD is missing"));
  CHECK_THAT(problem("0F0,0REDUCE_GRAD,0B0\n"), Contains("no gradient"));
  CHECK_THAT(problem("0F0,0F1,0B0,0REDUCE_GRAD,0B1,0STEP\n"),
             Contains("0STEP: the gradient of rank 0, cell 5, 0B1"));
  CHECK_THAT(problem("0F0,0F1,0B0,0REDUCE_GRAD,0B1\n"),
             Contains("rank 0, cell 5, 0B1: its gradient is never summed"));
  CHECK_THAT(problem("0F0,0B0,0WAIT_REDUCE_GRAD\n"), Contains("under way"));
  CHECK_THAT(
      problem("0F0,0F1,0B0,0REDUCE_GRAD,0WAIT_REDUCE_GRAD,0B1,0REDUCE_GRAD,"
              "0STEP\n"),
      Contains("is under way; WAIT_REDUCE_GRAD before "));
}

TEST_CASE("NORM comes between gradients and their update", "[check]") {
  CHECK(passes("0F0,0B0,0NORM,0STEP\n1F0,1B0,1STEP\n"));
  CHECK(passes("0F0,0B0,0NORM\n"));
  CHECK(passes("0F0,0B0,0REDUCE_GRAD,0NORM,0STEP\n"
               "0F1,0B1,0REDUCE_GRAD,0NORM,0STEP\n"));
  CHECK(passes("0UNSHARD,0F0,0B0,0RESHARD,0NORM,0STEP\n"));
  CHECK_THAT(problem("0F0,0NORM,0B0,0STEP\n"),
             Contains("0NORM: the stage has no gradient yet"));
  CHECK_THAT(problem("0F0,0F1,0B0,0NORM,0B1,0STEP\n"),
             Contains("rank 0, cell 5, 0B1: rank 0, cell 4, 0NORM is before"));
  CHECK_THAT(problem("0F0,0B0,0STEP,0NORM\n"),
             Contains("0NORM: no gradient was added since the update at rank "
                      "0, cell 3, 0STEP"));
  CHECK_THAT(problem("0F0,0B0,0NORM,0NORM,0STEP\n"),
             Contains("cell 4, 0NORM: it is there twice for one update, first "
                      "at rank 0, cell 3, 0NORM"));
  CHECK_THAT(problem("0F0,0NORM\n"), Contains("has no gradient yet"));
  CHECK_THAT(problem("0F0,0B0,0NORM,0REDUCE_GRAD,0STEP\n"
                     "0F1,0B1,0NORM,0REDUCE_GRAD,0STEP\n"),
             Contains("is not summed over the stage's ranks; REDUCE_GRAD "
                      "before NORM"));
  CHECK_THAT(problem("0F0,0B0,0REDUCE_GRAD,0NORM,0WAIT_REDUCE_GRAD,0STEP\n"),
             Contains("WAIT_REDUCE_GRAD before NORM"));
  CHECK_THAT(problem("0F0,0B0,0REDUCE_GRAD,0NORM\n0F1,0B1,0REDUCE_GRAD\n"),
             Contains("rank 1: 0NORM is missing; the stage is also on rank 0"));
  CHECK_THAT(problem("0F0,0B0,0REDUCE_GRAD\n0F1,0B1,0REDUCE_GRAD,0NORM\n"),
             Contains("0NORM: the stage is also on rank 0"));
}

TEST_CASE("collectives in different orders", "[check]") {
  CHECK_THAT(
      problem("0UNSHARD,0F0,0B0,0REDUCE_GRAD,0RESHARD\n"
              "0UNSHARD,0F1,0RESHARD,0UNSHARD,0B1,0RESHARD,0REDUCE_GRAD\n"),
      Contains("rank 1, cell 4, 0UNSHARD: the stage's ranks have its "
               "collectives in different orders: rank 0, cell 4"));
  // Each stage's are in one order, but the two stages' are not.
  CHECK_THAT(problem("0F0,1F0,1B0,0B0,0REDUCE_GRAD,1REDUCE_GRAD\n"
                     "0F1,1F1,1B1,0B1,1REDUCE_GRAD,0REDUCE_GRAD\n"),
             Contains("rank 0, cell 5, 0REDUCE_GRAD: a deadlock: it waits for "
                      "rank 1, cell 6, 0REDUCE_GRAD, where rank 1, cell 5, "
                      "1REDUCE_GRAD waits for rank 0, cell 6"));
}

TEST_CASE("weights are whole where they are used", "[check]") {
  CHECK(passes("0UNSHARD,0F0,0RESHARD,0UNSHARD,0B0,0RESHARD\n"));
  CHECK_THAT(problem("0UNSHARD,0F0,0RESHARD,0B0\n"),
             Contains("rank 0, cell 4, 0B0: the weights are sharded"));
  CHECK_THAT(problem("0F0,0UNSHARD,0B0,0RESHARD\n"), Contains("sharded"));
  CHECK_THAT(problem("0UNSHARD,0UNSHARD,0F0,0B0,0RESHARD\n"),
             Contains("gathered already"));
  CHECK_THAT(problem("0UNSHARD,0F0,0B0\n"), Contains("0RESHARD is missing"));
  CHECK_THAT(problem("0RESHARD,0UNSHARD,0F0,0B0,0RESHARD\n"),
             Contains("not gathered"));
}

TEST_CASE("slots are not written while they are needed", "[check]") {
  CheckOptions options;
  options.slots = 2;
  CHECK(passes("0F0,0F1,0B0,0F2,0B1,0B2\n", options));
  CHECK_THAT(problem("0F0,0F1,0F2,0B0,0B1,0B2\n", options),
             Contains("rank 0, cell 3, 0F2: it writes a slot that is needed "
                      "until rank 0, cell 4, 0B0; stage 0 has 2 slots"));
  // The weight gradient needs it too.
  CHECK_THAT(problem("0F0,0I0,0F1,0I1,0F2,0I2,0W0,0W1,0W2\n", options),
             Contains("0F2: it writes a slot that is needed until rank 0, "
                      "cell 7, 0W0"));
  CHECK(activationsInFlight(parsed("0F0,0I0,0F1,0W0,0I1,0W1\n0F2,0B2\n")) ==
        std::vector<int64_t>{2, 1});
}

static const char *const transfers =
    "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
    "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n";

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("transfers are of stages that exchange something", "[check]") {
  for (auto [transfer, message] : {
           std::pair("0RECV_F0", "0RECV_F0: stage 0 has no stage before it"),
           {"0SEND_B0", "stage 0 has no stage before it"},
           {"1SEND_F0", "stage 1 has no stage after it; there are 2"},
           {"1RECV_B0", "stage 1 has no stage after it; there are 2"},
           {"0SEND_F0>5", "there is no stage 5; there are 2, numbered from 0"},
           {"1SEND_F0>0", "results go to later stages"},
       })
    CHECK_THAT(problem(std::string("0F0,0B0,1F0,1B0,") + transfer + "\n"),
               Contains(message));
  CHECK_THAT(problem("0F0,0SEND_F0>2\n1F0\n2F0\n"),
             Contains("stage 2 does not read stage 0"));
}

TEST_CASE("transfers have partners", "[check]") {
  CHECK(passes(transfers));
  CHECK_THAT(problem(replaced(transfers, "1RECV_F1,", "")),
             Contains("rank 0, cell 4, 0SEND_F1: it has no partner: rank 1 has "
                      "no 1RECV_F1"));
  CHECK_THAT(problem(replaced(transfers, "0SEND_F0,", "")),
             Contains("rank 1, cell 1, 1RECV_F0: it has no partner: rank 0 has "
                      "no 0SEND_F0"));
  CHECK_THAT(
      problem(replaced(replaced(transfers, "0SEND_F0,", ""), "1RECV_F0,", "")),
      Contains("rank 0: 0SEND_F0 is missing; stage 1 is on rank 1"));
  CHECK_THAT(problem(replaced(transfers, "0SEND_F1", "0SEND_F0")),
             Contains("rank 0, cell 4, 0SEND_F0: it is there twice"));
  CHECK_THAT(problem(replaced(transfers, "0SEND_F1", "1SEND_F1")),
             Contains("rank 0, cell 4, 1SEND_F1: stage 1 has no stage"));
  CHECK_THAT(problem(replaced(transfers, "0F0,0SEND_F0", "0SEND_F0,0F0")),
             Contains("0SEND_F0: it sends before rank 0, cell 2, 0F0"));
  CHECK_THAT(problem(replaced(transfers, "1RECV_F0,1F0", "1F0,1RECV_F0")),
             Contains("1RECV_F0: it receives after rank 1, cell 1, 1F0"));
  CHECK_THAT(problem(replaced(transfers, "0SEND_F0,", "0SEND_F0,1RECV_F0,")),
             Contains("it is there twice"));
  CHECK_THAT(
      problem(replaced(replaced(transfers, "1RECV_F0,", ""), "0SEND_F0,",
                       "0SEND_F0,1RECV_F0,")),
      Contains(
          "rank 0, cell 3, 1RECV_F0: the rank does not run 1F0, rank 1 does"));
  CHECK_THAT(problem("0F0,0SEND_F0,1RECV_F0,1F0\n"),
             Contains("it needs no transfer: stage 1 is on the same rank"));
}

TEST_CASE("a fault has the place of the action", "[check]") {
  Fault fault;
  CHECK_FALSE(
      check(parsed("0F0,0B0\n(1F0;1B0)OVERLAP_F_B\n"), {}, &fault).ok());
  CHECK(fault.rank == 1);
  CHECK(fault.index == 1);
  // A missing one has the end of its rank.
  CHECK_FALSE(check(parsed("0F0,0B0\n1F0,1I0\n"), {}, &fault).ok());
  CHECK(fault.rank == 1);
  CHECK(fault.index == 2);
}

TEST_CASE("messages of another size and order", "[check]") {
  CheckOptions options;
  options.bytes = [](int32_t rank, const Action &action) {
    return rank == 1 && action.microBatch == 1 ? 8 : 4;
  };
  CHECK_THAT(problem(transfers, options),
             Contains("rank 0, cell 4, 0SEND_F1: it sends 4 bytes, rank 1, "
                      "cell 3, 1RECV_F1 receives 8"));
  CHECK_THAT(problem(replaced(transfers, "0F0,0SEND_F0,0F1,0SEND_F1",
                              "0F0,0F1,0SEND_F1,0SEND_F0")),
             Contains("rank 1, cell 1, 1RECV_F0: it receives message 1 of rank "
                      "0, but rank 0, cell 4, 0SEND_F0 sends message 2"));
}

TEST_CASE("skip connections have transfers of their own", "[check]") {
  std::string csv = "0F0,0SEND_F0,0SEND_F0>2\n1RECV_F0,1F0,1SEND_F0\n"
                    "2RECV_F0,2RECV_F0<0,2F0\n";
  // Rank 0 waits until rank 2 receives, which it does after rank 1 has sent.
  CHECK(passes(csv));
  CHECK_THAT(
      problem(replaced(csv, "0SEND_F0,0SEND_F0>2", "0SEND_F0>2,0SEND_F0")),
      Contains("a deadlock"));
  CheckOptions options;
  options.reads = {{0, 1}, {1, 2}, {0, 2}};
  CHECK(passes(csv, options));
  options.reads.pop_back();
  CHECK_THAT(problem(csv, options), Contains("stage 2 does not read stage 0"));
  options.reads.push_back({2, 1});
  CHECK_THAT(problem(csv, options), Contains("cannot read stage 2"));
}

TEST_CASE("transfers of random readings pass", "[check]") {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const ScheduleRow &row = allSchedules()[random() % allSchedules().size()];
    ScheduleOptions options;
    options.name = row.name;
    options.ranks = 2 + 2 * int64_t(random() % 3);
    options.microBatches = 8;
    Table table;
    if (!generate(options, table).ok())
      continue;
    const int32_t stages = table.countStages();
    CheckOptions expected = promisesOf(options, table);
    expected.reads = readPrevious(stages);
    for (int32_t from = 0; from < stages; ++from)
      for (int32_t to = from + 2; to < stages; ++to)
        if (random() % 3 == 0)
          expected.reads.push_back({from, to, random() % 3 != 0});
    REQUIRE(addTransfers(table, expected.reads).ok());
    addUpdates(table);
    INFO(row.name);
    CHECK(check(table, expected).message == "");
  }
}

TEST_CASE("the deadlock of pytorch/pytorch#172668", "[check]") {
  const std::string csv =
      "0F0,0SEND_F0,0F1,0SEND_F1,2RECV_F0,2F0,2SEND_F0,2RECV_F1,2F1,2SEND_F1,"
      "0F2,0SEND_F2,2RECV_B0,2B0,2SEND_B0,2RECV_B1,2B1,2SEND_B1,2RECV_F2,2F2,"
      "2SEND_F2,0RECV_B0,0B0,0RECV_B1,0B1,2RECV_B2,2B2,2SEND_B2,0RECV_B2,0B2\n"
      "1RECV_F0,1F0,1RECV_F1,1SEND_F0,1F1,3RECV_F0,1SEND_F1,3F0,3B0,3RECV_F1,"
      "3SEND_B0,3F1,3B1,1RECV_F2,3SEND_B1,1F2,1RECV_B0,1B0,1RECV_B1,1SEND_F2,"
      "1SEND_B0,1B1,1SEND_B1,3RECV_F2,3F2,3B2,3SEND_B2,1RECV_B2,1B2,1SEND_B2\n";
  std::string text = problem(csv);
  CHECK_THAT(text, Contains("rank 0, cell 12, 0SEND_F2: a deadlock: it waits "
                            "for rank 1, cell 14, 1RECV_F2, where rank 1, cell "
                            "11, 3SEND_B0 waits for rank 0, cell 13, "
                            "2RECV_B0"));
  CHECK_THAT(execute(parsed(csv)).error, Contains("waits for ever"));
  // Rank 0 would go on if its sends were buffered.
  CheckOptions options;
  options.isBuffered = true;
  std::string buffered = check(parsed(csv), options).message;
  CHECK(buffered.find("0SEND_F2") == std::string::npos);
}

TEST_CASE("sends that are waited for", "[check]") {
  const std::string csv = "0F0,0SEND_F0,0WAIT_SEND_F0\n1RECV_F0,1F0\n";
  CHECK(passes(csv));
  CHECK_THAT(problem(replaced(csv, "0SEND_F0,0WAIT_SEND_F0",
                              "0WAIT_SEND_F0,0SEND_F0")),
             Contains("0WAIT_SEND_F0: the rank has sent nothing"));
  CHECK_THAT(problem("0F0,0F1,0SEND_F0,0SEND_F1,0WAIT_SEND_F0\n"
                     "1RECV_F0,1F0,1RECV_F1,1F1\n"),
             Contains("0SEND_F1: nothing waits for it"));
}

TEST_CASE("versions of weights are those promised", "[check]") {
  const std::string stash = "0F0@0,0F1@0,0B0@0,0STEP1,0F2@1,0B1@0,0STEP2,"
                            "0B2@1,0STEP3\n1F0@0,1B0@0,1STEP1,1F1@1,1B1@1,"
                            "1STEP2,1F2@2,1B2@2,1STEP3\n";
  CheckOptions options = promising({Promise::Stashing});
  CHECK(passes(stash, options));
  CHECK_THAT(problem(stash), Contains("it comes after the update at"));
  CHECK_THAT(problem(replaced(stash, "0B1@0", "0B1@1"), options),
             Contains("rank 0, cell 6, 0B1@1: it reads version 1, promised is "
                      "version 0, that of its forward pass"));
  CHECK_THAT(problem(replaced(stash, "0F2@1", "0F2@0"), options),
             Contains("promised is version 1, the newest"));
  CHECK_THAT(problem(replaced(stash, "0F2@1", "0F2@2"), options),
             Contains("no newer one than version 1"));
  options.promise.most = 1;
  CHECK_THAT(problem(stash, options),
             Contains("rank 0, cell 4, 0STEP1: 2 versions of the weights are "
                      "needed, promised are 1"));
  CheckOptions newest = promising({Promise::BoundedStaleness});
  CHECK_THAT(problem(stash, newest), Contains("0B1@0"));
  CHECK(passes("0F0@0,0F1@0,0B0@0,0STEP1,0B1@1,0STEP2\n", newest));
}

TEST_CASE("PipeDream-2BW reads the version before the newest", "[check]") {
  std::string csv = "0F0@0,0F1@0,0B0@0,0F2@0,0B1@0,0STEP1,0F3@0,0B2@0,0F4@1,"
                    "0B3@0,0STEP2,0F5@1,0B4@1,0B5@1,0STEP3\n";
  CheckOptions options = promising({Promise::TwoVersions});
  CHECK(passes(csv, options));
  options.promise.perUpdate = 2;
  CHECK(passes(csv, options));
  CHECK_THAT(problem(replaced(csv, "0F4@1", "0F4@0"), options),
             Contains("0F4@0: it reads version 0, promised is version 1, that "
                      "of its micro-batch"));
  CHECK_THAT(problem(replaced(csv, "0STEP1,0F3@0,0B2@0", "0F3@0,0B2@0,0STEP1"),
                     options),
             Contains("0B2@0: its gradient belongs to version 2"));
}

TEST_CASE("AMPNet bounds the updates between the passes", "[check]") {
  const std::string csv =
      "0F0@0,0F1@0,0F2@0,0B0@0,0STEP1,0B1@1,0STEP2,0B2@2,0STEP3\n";
  CHECK(passes(csv, promising({Promise::BoundedStaleness})));
  CHECK_THAT(problem(csv, promising({Promise::BoundedStaleness, 1})),
             Contains("0B2@2: 2 updates came after its forward pass, promised "
                      "are at most 1"));
}

TEST_CASE("gradients are added in order", "[check]") {
  CheckOptions options;
  options.sumOrder = CheckOptions::Rising;
  CHECK(passes("0F0,0F1,0B1,0B0\n"));
  CHECK_THAT(problem("0F0,0F1,0B1,0B0\n", options),
             Contains("rank 0, cell 4, 0B0: it adds to the stage's gradients "
                      "after rank 0, cell 3, 0B1"));
}

TEST_CASE("a million actions take about a second", "[check]") {
  ScheduleOptions options;
  options.name = "1f1b";
  options.ranks = 16;
  options.microBatches = 11000;
  Table table;
  REQUIRE(generate(options, table).ok());
  REQUIRE(addTransfers(table, readPrevious(16)).ok());
  REQUIRE(table.countActions() > 1'000'000);
  const auto begin = std::chrono::steady_clock::now();
  CHECK(check(table, promisesOf(options, table)).message == "");
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  INFO(seconds.count());
  CHECK(seconds.count() < 5); // about 1; machines are busy
}
