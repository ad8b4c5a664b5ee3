//===- TransfersTest.cpp - What follows from a table of computations ------===//

#include "runtime/schedule/Transfers.h"
#include "Clock.h"
#include "Samples.h"
#include "runtime/schedule/Generate.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <tuple>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Matchers::Contains;

namespace {

using Kind = ActionKind;
using Edges = std::vector<Reading>;

/// Runs a table in which nothing is buffered: a send and its receive end
/// together, and so do the collectives of a stage's ranks. A computation runs
/// only if the rank has what it reads.
class Rendezvous {
public:
  Rendezvous(const Table &table, const Edges &reads)
      : table(table), reads(reads), next(table.ranks.size(), 0),
        has(table.ranks.size()) {}

  /// Empty, or where ranks wait, or what a rank lacks.
  std::string run() {
    for (bool moves = true; moves && problem.empty();) {
      moves = false;
      for (size_t rank = 0; rank < next.size(); ++rank)
        while (head(rank) && problem.empty() && step(rank))
          moves = true;
    }
    for (size_t rank = 0; rank < next.size() && problem.empty(); ++rank)
      if (head(rank))
        problem = "rank " + std::to_string(rank) + " waits at " +
                  toString(*head(rank));
    return problem;
  }

private:
  /// A result of F (true) or the gradient of one, of a stage for a reader.
  using Item = std::tuple<bool, int32_t, int32_t, int32_t, int32_t>;

  const Action *head(size_t rank) const {
    return next[rank] < table.ranks[rank].size()
               ? &table.ranks[rank][next[rank]]
               : nullptr;
  }

  bool step(size_t rank) {
    const Action action = *head(rank);
    if (isReceive(action.kind))
      return false; // Its send does both.
    if (isSend(action.kind))
      return send(rank, action);
    if (action.kind == Kind::ReduceGradients || action.kind == Kind::Unshard)
      return meet(action);
    compute(rank, action);
    ++next[rank];
    return true;
  }

  bool send(size_t rank, const Action &action) {
    const bool isForward = action.kind == Kind::SendForward;
    const Kind kind = isForward ? Kind::ReceiveForward : Kind::ReceiveBackward;
    const Item item{isForward, action.stage, peerOf(action), action.microBatch,
                    action.slice};
    if (!has[rank].count(item))
      problem = toString(action) + " has nothing to send";
    for (size_t other = 0; other < next.size(); ++other) {
      const Action *one = head(other);
      if (!one || one->kind != kind || one->stage != peerOf(action) ||
          peerOf(*one) != action.stage ||
          one->microBatch != action.microBatch || one->slice != action.slice)
        continue;
      has[other].insert(item);
      ++next[rank];
      ++next[other];
      return true;
    }
    return false;
  }

  bool meet(const Action &action) {
    std::vector<size_t> all;
    for (size_t rank = 0; rank < next.size(); ++rank) {
      const auto &actions = table.ranks[rank];
      if (std::none_of(actions.begin(), actions.end(), [&](const Action &one) {
            return one.kind == Kind::Forward && one.stage == action.stage;
          }))
        continue;
      if (!head(rank) || *head(rank) != action)
        return false;
      all.push_back(rank);
    }
    for (size_t rank : all)
      ++next[rank];
    return true;
  }

  void compute(size_t rank, const Action &action) {
    const int32_t i = action.microBatch, slice = action.slice;
    auto need = [&](const Item &item) {
      if (!has[rank].count(item))
        problem = "rank " + std::to_string(rank) + " lacks what " +
                  toString(action) + " reads";
    };
    const bool isForward = action.kind == Kind::Forward;
    if (!isForward && action.kind != Kind::Backward &&
        action.kind != Kind::InputGradient)
      return;
    for (const Reading &one : reads) {
      const bool readsOne = one.to == action.stage,
                 isRead = one.from == action.stage;
      if (isForward && readsOne)
        need({true, one.from, one.to, i, slice});
      if (!isForward && isRead && one.hasGradient)
        need({false, one.to, one.from, i, slice});
      if (isForward && isRead)
        has[rank].insert({true, one.from, one.to, i, slice});
      if (!isForward && readsOne && one.hasGradient)
        has[rank].insert({false, one.to, one.from, i, slice});
    }
  }

  const Table &table;
  const Edges &reads;
  std::vector<size_t> next;
  std::vector<std::set<Item>> has;
  std::string problem;
};

std::string runWithoutBuffers(const Table &table, const Edges &reads) {
  return Rendezvous(table, reads).run();
}

Table computations(const Table &table) {
  Table result;
  for (const std::vector<Action> &actions : table.ranks) {
    result.ranks.emplace_back();
    for (const Action &action : actions)
      if (isCompute(action.kind) && action.kind != Kind::Step)
        result.ranks.back().push_back(action);
  }
  return result;
}

int64_t countKind(const Table &table, Kind kind) {
  int64_t count = 0;
  for (const std::vector<Action> &actions : table.ranks)
    count += std::count_if(
        actions.begin(), actions.end(),
        [&](const Action &action) { return action.kind == kind; });
  return count;
}

void check(Table table, const Edges &reads) {
  const Table plain = computations(table);
  const std::string before = table.text();
  Status status = addTransfers(table, reads);
  INFO(before << status.message);
  REQUIRE(status.ok());
  INFO(table.text());
  CHECK(computations(table) == plain);
  CHECK(runWithoutBuffers(table, reads) == "");
  CHECK(Status(addTransfers(table, reads)).ok() == !table.hasTransfers());
  addUpdates(table);
  CHECK(runWithoutBuffers(table, reads) == "");
}

std::string problemOf(const std::string &csv, const Edges &reads) {
  Table table = parsed(csv);
  Status status = addTransfers(table, reads);
  CHECK(status.code == MLC_BAD_FILE);
  return status.message;
}

ScheduleOptions sized(const std::string &name, int64_t ranks,
                      int64_t microBatches, int64_t chunks = 0) {
  ScheduleOptions options;
  options.name = name;
  options.ranks = ranks;
  options.microBatches = microBatches;
  options.chunks = chunks;
  return options;
}

} // namespace

TEST_CASE("transfers stand where data come", "[schedule]") {
  Table table;
  REQUIRE(generate(sized("1f1b", 2, 2), table).ok());
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  CHECK(table.text() ==
        "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
        "1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n");
}

TEST_CASE("messages travel while their receivers compute", "[schedule]") {
  Table table;
  REQUIRE(generate(sized("gpipe", 2, 3), table).ok());
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  CHECK(table.text() == "0F0,0SEND_F0,0F1,0SEND_F1,0F2,0SEND_F2,"
                        "0RECV_B0,0RECV_B1,0B0,0RECV_B2,0B1,0B2\n"
                        "1RECV_F0,1RECV_F1,1F0,1RECV_F2,1F1,1F2,"
                        "1B0,1SEND_B0,1B1,1SEND_B1,1B2,1SEND_B2\n");
}

TEST_CASE("published tables run without buffers", "[schedule]") {
  for (const PytorchTable &one : readPytorchTables())
    check(one.table, readPrevious(one.table.countStages()));
}

TEST_CASE("all schedules run without buffers, whatever stages read",
          "[schedule]") {
  std::mt19937 random(3);
  for (const ScheduleRow &row : allSchedules())
    for (int64_t ranks : {1, 2, 3, 4, 6})
      for (int64_t m : {1, 2, 3, 4, 8, 12}) {
        ScheduleOptions options = sized(row.name, ranks, m);
        options.slices = row.hasSlices ? 3 : 0;
        Table table;
        if (!generate(options, table).ok())
          continue;
        const int32_t stages = table.countStages();
        Edges reads = readPrevious(stages);
        check(table, reads);
        for (int32_t from = 0; from < stages; ++from)
          for (int32_t to = from + 2; to < stages; ++to)
            if (random() % 3 == 0)
              reads.push_back({from, to, random() % 4 != 0});
        check(table, reads);
      }
}

TEST_CASE("PyTorch's open deadlock does not come up", "[schedule]") {
  // pytorch/pytorch#172668, as its thread tells it.
  const Edges reads = readPrevious(4);
  const Table deadlock = parsed(
      "0F0,0SEND_F0,0F1,0SEND_F1,2RECV_F0,2F0,2SEND_F0,2RECV_F1,2F1,2SEND_F1,"
      "0F2,0SEND_F2,2RECV_B0,2B0,2SEND_B0\n"
      "1RECV_F0,1F0,1RECV_F1,1SEND_F0,1F1,3RECV_F0,1SEND_F1,3F0,3B0,3RECV_F1,"
      "3SEND_B0,3F1,3B1,1RECV_F2,3SEND_B1,1F2\n");
  CHECK_THAT(runWithoutBuffers(deadlock, reads),
             Contains("rank 0 waits at 0SEND_F2"));
  Table table;
  REQUIRE(generate(sized("interleaved-1f1b", 2, 4, 2), table).ok());
  check(table, reads);
}

TEST_CASE("a skip connection is sent to the stage that reads it",
          "[schedule]") {
  Table table = parsed("0F0,0B0\n1F0,1B0\n2F0,2B0\n");
  REQUIRE(addTransfers(table, {{0, 1}, {1, 2}, {0, 2, false}}).ok());
  CHECK(table.text() == "0F0,0SEND_F0,0SEND_F0>2,0RECV_B0,0B0\n"
                        "1RECV_F0,1F0,1SEND_F0,1RECV_B0,1B0,1SEND_B0\n"
                        "2RECV_F0<0,2RECV_F0,2F0,2B0,2SEND_B0\n");
}

TEST_CASE("stages of one rank send nothing to each other", "[schedule]") {
  Table table = parsed("0F0,1F0,1B0,0B0\n");
  const Table before = table;
  REQUIRE(addTransfers(table, readPrevious(2)).ok());
  CHECK(table == before);
}

TEST_CASE("gradients of a stage on several ranks are added when the last is "
          "there",
          "[schedule]") {
  Table table;
  REQUIRE(generate(sized("chimera", 4, 4), table).ok());
  REQUIRE(addTransfers(table, readPrevious(4)).ok());
  CHECK(countKind(table, Kind::ReduceGradients) == 8);
  // The later stage's come first, before the other's last backward pass.
  const std::vector<Action> &first = table.ranks[0];
  auto found =
      std::find(first.begin(), first.end(), Action{Kind::ReduceGradients, 3});
  CHECK(std::find(found, first.end(), Action{Kind::Backward, 0, 1}) !=
        first.end());
  addUpdates(table);
  CHECK(countKind(table, Kind::ReduceGradients) == 8);
  CHECK(countKind(table, Kind::Step) == 8);
  CHECK_THAT(problemOf("0F0,0B0,0STEP1,0F2,0B2,0STEP2\n0F1,0B1,0STEP1\n", {}),
             Contains("rank 0, 0STEP2: several ranks have the stage"));
}

TEST_CASE("updates come last, after sums of the stage's ranks", "[schedule]") {
  Table table = parsed("0F0,1F1,1B1,0B0\n1F0,0F1,0B1,1B0\n");
  addUpdates(table);
  CHECK(table.text() ==
        "0F0,1F1,1B1,0B0,0REDUCE_GRAD,1REDUCE_GRAD,0STEP,1STEP\n"
        "1F0,0F1,0B1,1B0,0REDUCE_GRAD,1REDUCE_GRAD,0STEP,1STEP\n");
  const Table once = table;
  addUpdates(table);
  CHECK(table == once);
}

TEST_CASE("forward passes alone are a table for inference", "[schedule]") {
  for (const ScheduleRow &row : allSchedules()) {
    Table table;
    REQUIRE(generate(sized(row.name, 4, 8), table).ok());
    Table forward = table;
    Status status = keepForward(forward);
    INFO(row.name << ": " << status.message);
    if (!row.isSynchronous) {
      CHECK_THAT(status.message, Contains("depend on updates"));
      CHECK(forward == table);
      continue;
    }
    REQUIRE(status.ok());
    CHECK(forward.countActions() == countKind(table, Kind::Forward));
    check(forward, readPrevious(table.countStages()));
  }
  Table table = parsed("0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,"
                       "(1F0;1B1)OVERLAP_F_B,1SEND_B0\n");
  REQUIRE(keepForward(table).ok());
  CHECK(table.text() == "0F0,0SEND_F0\n1RECV_F0,1F0\n");
  table = parsed("0F0,0B0,0STEP,0F1\n");
  CHECK(Status(keepForward(table)).code == MLC_BAD_FILE);
  table = parsed("0F0\n1B0\n");
  CHECK(Status(keepForward(table)).message == "rank 1 has no forward pass");
}

TEST_CASE("weights are gathered for the stages that come next", "[schedule]") {
  Table table = parsed("0F0,2F0,4F0,4B0,2B0,0B0\n1F0\n3F0\n");
  REQUIRE(addShards(table, 2).ok());
  CHECK(table.text() == "0UNSHARD,2UNSHARD,0F0,0RESHARD,4UNSHARD,2F0,4F0,4B0,"
                        "4RESHARD,0UNSHARD,2B0,2RESHARD,0B0,0RESHARD\n"
                        "1UNSHARD,1F0,1RESHARD\n3UNSHARD,3F0,3RESHARD\n");
  CHECK(Status(addShards(table, 2)).message ==
        "rank 0: 0UNSHARD is there already; add gathers once");
  CHECK_THAT(Status(addShards(table, 0)).message, Contains("at least one"));
  // What overlaps is there at once, even if that is more.
  table = parsed("(0F0;1F1)OVERLAP_F_B,1F0,0F1");
  REQUIRE(addShards(table, 1).ok());
  CHECK(table.text() == "0UNSHARD,1UNSHARD,(0F0;1F1)OVERLAP_F_B,0RESHARD,1F0,"
                        "1RESHARD,0UNSHARD,0F1,0RESHARD\n");
}

TEST_CASE("gathers and transfers run without buffers", "[schedule]") {
  for (const ScheduleRow &row : allSchedules())
    for (int32_t most : {1, 2, 3}) {
      Table table;
      REQUIRE(generate(sized(row.name, 4, 8), table).ok());
      REQUIRE(addShards(table, most).ok());
      check(table, readPrevious(table.countStages()));
    }
}

TEST_CASE("what has no order is named", "[schedule]") {
  const Edges next = {{0, 1}};
  for (const auto &[csv, reads, message] :
       std::initializer_list<std::tuple<const char *, Edges, const char *>>{
           {"0F0,0B0\n1B0,1F0\n", next,
            "rank 1, 1B0 waits for 1F0, which comes later on rank 1"},
           {"0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n", next,
            "rank 0, 0B0 waits for 1B0; rank 1, 1F1 waits for 0F1, which comes "
            "later on rank 0; change their order"},
           {"0F0\n1F1\n", next,
            "rank 1, 1F1 waits for 0F1, which no rank runs"},
           {"0F0,0B0\n1F0\n", next,
            "rank 0, 0B0 waits for 1B0, which no rank runs"},
           {"0F0,0F0\n1F0\n", next, "rank 0, 0F0 is run by rank 0 too"},
           {"0F0\n0F0\n", {}, "rank 1, 0F0 is run by rank 0 too; run it once"},
           {"0F0,0B0,0I0\n", {}, "rank 0, 0I0 is run twice"},
           {"0F0\n0B0\n", {}, "rank 1, 0B0: the rank does not run F of it"},
           {"0F0,0W0\n", {}, "rank 0, 0W0 waits for 0I0, which no rank runs"},
           {"0F0,0SEND_F0\n1F0\n", next, "rank 0, 0SEND_F0: the table has"},
           {"0F0\n1F0\n", {{0, 2}}, "stage 2 reads stage 0, but the table has"},
           {"0F0\n1F0\n", {{1, 1}}, "stage 1 reads stage 1; leave that out"},
           {"0F0\n1F0\n", {{0, 1}, {0, 1}}, "stage 1 reads stage 0 twice"},
           {"0F0\n1F0\n",
            {{0, 1}, {1, 0}},
            "rank 0, 0F0 waits for 1F0; rank 1, "
            "1F0 waits for 0F0, which comes"},
           {"0F0,0UNSHARD,1UNSHARD,1F0\n1F1,1UNSHARD,0UNSHARD,0F1\n",
            {},
            "rank 0, 0UNSHARD waits for ranks that do not come to it"},
       }) {
    INFO(csv);
    CHECK_THAT(problemOf(csv, reads), Contains(message));
  }
}

TEST_CASE("a large table gets its transfers in time", "[schedule]") {
  Table table;
  REQUIRE(generate(sized("1f1b", 64, 4000), table).ok());
  REQUIRE(addTransfers(table, readPrevious(64)).ok());
  CHECK(table.countActions() == 2 * 64 * 4000 + 4 * 63 * 4000);
}
