//===- TableTest.cpp - Tables of actions as text --------------------------===//

#include "Samples.h"
#include "runtime/schedule/StageRanks.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Catch::Matchers::Contains;

namespace {

std::string problemOf(const std::string &csv) {
  Table table;
  Status status = Table::parse(csv, table);
  CHECK(status.code == MLC_BAD_FILE);
  return status.message;
}

/// A table of any actions, in the form that parse() gives.
Table randomTable(std::mt19937 &random) {
  auto draw = [&](int count) { return int32_t(random() % count); };
  Table table;
  table.ranks.resize(1 + draw(4));
  for (std::vector<Action> &rank : table.ranks) {
    int32_t groups = 0, left = 0;
    for (int count = 1 + draw(9); count; --count) {
      Action action;
      action.kind = ActionKind(draw(int(ActionKind::Step) + (left ? 0 : 1)));
      if (left)
        action.kind = ActionKind(draw(4));
      action.stage = draw(3);
      if (hasMicroBatch(action.kind)) {
        action.microBatch = draw(12);
        action.slice = draw(2) ? kNone : draw(3);
        action.version = draw(2) ? kNone : draw(30);
        if (isSend(action.kind) || isReceive(action.kind))
          action.peer = draw(2) ? kNone : draw(8);
      } else if (action.kind == ActionKind::Step) {
        action.microBatch = draw(2) ? kNone : draw(30);
      }
      if (!left && isPass(action.kind) && draw(3) == 0) {
        left = 1 + draw(2);
        ++groups;
      }
      if (left) {
        action.overlap = groups - 1;
        --left;
      }
      rank.push_back(action);
    }
  }
  return table;
}

} // namespace

TEST_CASE("PyTorch's tables are read and written as they are", "[schedule]") {
  for (const PytorchTable &one : readPytorchTables()) {
    INFO(one.schedule << " " << one.ranks << " " << one.microBatches);
    CHECK(one.table.text() == one.csv);
    CHECK(int(one.table.ranks.size()) == one.ranks);
    CHECK(one.table.countStages() == one.ranks * one.chunks);
    CHECK(one.table.countMicroBatches() == one.microBatches);
    CHECK_FALSE(one.table.hasTransfers());
  }
}

TEST_CASE("actions are read with all that they name", "[schedule]") {
  Table table = parsed("0UNSHARD,0RECV_F1, 0F1 ,,0SEND_F1,0RESHARD\r\n"
                       "(0F7;7B3)OVERLAP_F_B,0F4.1@3,0REDUCE_GRAD,0STEP2,"
                       "0STEP,1WAIT_SEND_B0,0WAIT_REDUCE_GRAD\n");
  REQUIRE(table.ranks.size() == 2);
  REQUIRE(table.ranks[0].size() == 5);
  CHECK(table.ranks[0][2] == Action{ActionKind::Forward, 0, 1});
  const std::vector<Action> &second = table.ranks[1];
  CHECK(second[0] == Action{ActionKind::Forward, 0, 7, kNone, kNone, 0});
  CHECK(second[1] == Action{ActionKind::Backward, 7, 3, kNone, kNone, 0});
  CHECK(second[2] == Action{ActionKind::Forward, 0, 4, 1, 3});
  CHECK(second[4] == Action{ActionKind::Step, 0, 2});
  CHECK(second[5] == Action{ActionKind::Step, 0});
  CHECK(second[6] == Action{ActionKind::WaitSendBackward, 1, 0});
  CHECK(table.hasTransfers());
  CHECK(table.countStages() == 8);
  CHECK(table.countMicroBatches() == 8);
  CHECK(table.countSlices() == 2);
  CHECK(table.countActions() == 13);
  CHECK(toString(second[2]) == "0F4.1@3");
  CHECK(parsed("0F0\n0F1\n\n \r\n").ranks.size() == 2);
  table = parsed("0SEND_F4,0SEND_F4>3,3RECV_F4<0,3SEND_B4,0RECV_B4<3@2\n");
  const int32_t peers[] = {1, 3, 0, 2, 3};
  for (size_t i = 0; i < 5; ++i)
    CHECK(peerOf(table.ranks[0][i]) == peers[i]);
}

TEST_CASE("a table that is written is read again", "[schedule]") {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Table table = randomTable(random);
    const std::string text = table.text();
    INFO(text);
    CHECK(parsed(text) == table);
  }
}

TEST_CASE("what is no table is named with its place", "[schedule]") {
  for (auto [csv, message] : {
           std::pair("", "there is no rank"),
           {"0F0\n\n0F1\n",
            "line 2, the line is empty, and each line is a rank"},
           {" \n0F0\n", "line 1, the line is empty"},
           {"\n \r\n", "there is no rank"},
           {"0F0\n , ,\n", "line 2, the rank has no action"},
           {"# GPipe\n0F0\n", "line 1, cell 1: '# GPipe': expected an action"},
           {"0F0,,0X1\n", "line 1, cell 3: '0X1': there is no action 'X'; "
                          "kinds are in upper case, without spaces "
                          "around them: F, I, W"},
           {"0f0", "'0f0': there is no action 'f'; kinds are in upper case"},
           {"0 F0", "there is no action ' F'; kinds"},
           {"0F 0", "there is no action 'F '"},
           {"0", "'0': no kind follows the stage"},
           {"0F0\n0F1,F2", "line 2, cell 2: 'F2': expected an action"},
           {"0F", "'0F': F needs a micro-batch, as 2F0"},
           {"0UNSHARD1", "UNSHARD belongs to no micro-batch; leave"},
           {"0REDUCE_GRAD@1", "REDUCE_GRAD has no slice and reads no version"},
           {"0F0x", "what is 'x'? Separate actions by commas"},
           {"0F0.", "a slice is a number after ."},
           {"0SEND_F0>", "a stage is a number after >"},
           {"0RECV_F0>1", "what is '>1'?"},
           {"0F0<1", "what is '<1'?"},
           {"0F0@-1", "a version is a number after @"},
           {"0F1000000000",
            "the micro-batch is too large; give up to 16777215"},
           {"1000000000F1", "the stage is too large; give up to 1048575"},
           {"0F0.99999999999999999999", "the slice is too large"},
           {"0STEP1000000000", "the version is too large"},
           {"(0F7;7B3)OVERLAP", "actions that overlap look like"},
           {"(0F7;7B3", "actions that overlap look like"},
           {"()OVERLAP_F_B", "expected an action"},
           {"(0F7;0SEND_F7)OVERLAP_F_B", "only F, I, W and B overlap"},
           {"(0F7;0NORM)OVERLAP_F_B", "only F, I, W and B overlap"},
           {"(0F7;(0F7)OVERLAP_F_B", "expected an action"},
           {"1048575F16777215",
            "1 actions cannot run 1048576 stages for 16777216 micro-batches"},
           {"0F0.16777215", "of 16777216 slices; number them from 0"},
           {"\x1b[31m", "'\\x1b[31m': expected an action"},
       }) {
    INFO(csv);
    CHECK_THAT(problemOf(csv), Contains(message));
  }
  std::string ranks;
  for (int i = 0; i <= 1 << 16; ++i)
    ranks += "0F0\n";
  CHECK_THAT(problemOf(ranks), Contains("there are more than 65536 ranks"));
}

TEST_CASE("random changes of a table's text are read or refused",
          "[schedule]") {
  std::mt19937 random(2);
  const std::string good = parsed("(0F7;7B3)OVERLAP_F_B,0F4.1@3,0STEP2\n"
                                  "0SEND_F10,0WAIT_REDUCE_GRAD\n")
                               .text();
  for (int i = 0; i < 100000; ++i) {
    std::string text = good;
    for (int changes = 1 + int(random() % 3); changes; --changes) {
      const size_t at = random() % text.size();
      const char other =
          random() % 2 ? text[random() % text.size()] : char(random() % 256);
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2)
        text.insert(at, 1, other);
      else
        text[at] = other;
      if (text.empty())
        text = good;
    }
    Table table;
    Status status = Table::parse(text, table);
    INFO(text);
    if (status.ok())
      CHECK(parsed(table.text()) == table);
    else
      CHECK(status.message.size() > 10);
  }
}
