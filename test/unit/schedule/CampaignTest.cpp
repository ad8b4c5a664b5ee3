//===- CampaignTest.cpp - Tables that were changed are refused ------------===//
//
// Every generated table passes. A table with an action dropped, doubled,
// resized, sent elsewhere or of another version is refused, and the message
// names rank and action. A table with an action moved is refused, or runs to
// the same values (Executor.h). Twenty times as many:
//
//   build/bin/schedule-tests "many changed tables"
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "runtime/schedule/Check.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <regex>

using namespace mlc::runtime;
using namespace mlc::runtime::schedule;
using Kind = ActionKind;

namespace {

struct Base {
  std::string name;
  Table table;
  CheckOptions options;
  Execution execution;
};

/// A mutant keeps what its sender and receiver think of its messages.
struct Mutant {
  std::string what;
  Table table;
  CheckOptions options;
};

class Campaign {
public:
  explicit Campaign(uint32_t seed) : random(seed) {
    for (const ScheduleRow &row : allSchedules())
      for (auto [ranks, microBatches, slices] : {std::array{1, 2, 1},
                                                 {2, 3, 2},
                                                 {2, 8, 1},
                                                 {3, 6, 1},
                                                 {4, 4, 3},
                                                 {4, 8, 1},
                                                 {6, 12, 2},
                                                 {8, 16, 1}})
        addBases(row, {ranks, microBatches, slices, {}});
    for (const ScheduleRow &row : allSchedules())
      for (const auto &[microBatches, replicas] :
           {std::pair(6, std::vector<int64_t>{3, 1}),
            {9, {1, 3}},
            {8, {2, 2}},
            {12, {2, 1, 3}}})
        if (row.hasReplicas)
          addBases(row, {0, microBatches, 1, replicas});
  }

  std::vector<Base> bases;
  std::mt19937 random;

  Mutant mutate(const Base &base) {
    Mutant mutant{"", base.table, base.options};
    while (mutant.what.empty())
      (this->*kinds[draw(std::size(kinds))])(base, mutant);
    return mutant;
  }

  /// An action elsewhere on its rank.
  Table move(const Base &base) {
    Table table = base.table;
    std::vector<Action> &actions = table.ranks[draw(table.ranks.size())];
    const size_t from = draw(actions.size());
    Action moved = actions[from];
    if (moved.overlap != kNone)
      for (Action &action : actions)
        action.overlap =
            action.overlap == moved.overlap ? kNone : action.overlap;
    moved.overlap = kNone;
    actions.erase(actions.begin() + long(from));
    // Near moves are legal more often.
    size_t to = draw(2) ? draw(actions.size() + 1)
                        : std::min(actions.size(),
                                   from + draw(7) - std::min<size_t>(from, 3));
    for (; to > 0 && to < actions.size() && actions[to].overlap != kNone &&
           actions[to].overlap == actions[to - 1].overlap;
         ++to)
      ;
    actions.insert(actions.begin() + long(to), moved);
    return table;
  }

  size_t draw(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  }

private:
  struct BaseSizes {
    int ranks, microBatches, slices;
    std::vector<int64_t> replicas;
  };

  void addBases(const ScheduleRow &row, const BaseSizes &sizes) {
    ScheduleOptions options;
    options.name = row.name;
    options.ranks = sizes.ranks;
    options.microBatches = sizes.microBatches;
    options.slices = row.hasSlices ? sizes.slices : 0;
    options.replicas = sizes.replicas;
    Table table;
    if (!generate(options, table).ok())
      return; // not every schedule serves every size
    add(options, table, "");
    Table updated = table;
    addUpdates(updated);
    add(options, updated, ", updates");
    if (table.ranks.size() == 1)
      return;
    Table sent = table;
    const std::vector<Reading> reads = readPrevious(table.countStages());
    REQUIRE(addTransfers(sent, reads).ok());
    add(options, sent, ", transfers");
    if (!row.isSynchronous)
      return;
    Table sharded = table;
    REQUIRE(addShards(sharded, 2).ok());
    REQUIRE(addTransfers(sharded, reads).ok());
    addUpdates(sharded);
    add(options, sharded, ", shards, transfers, updates");
  }

  void add(const ScheduleOptions &schedule, const Table &table,
           const std::string &with) {
    Base base;
    base.name = schedule.name + ", " + std::to_string(table.ranks.size()) +
                " ranks, " + std::to_string(schedule.microBatches) +
                " micro-batches" + with;
    base.table = table;
    base.options = promisesOf(schedule, table);
    // Stages on different numbers of ranks may have different ones.
    std::map<std::pair<size_t, int32_t>, int32_t> updates;
    for (size_t rank = 0; rank < table.ranks.size(); ++rank)
      for (const Action &action : table.ranks[rank])
        if (action.kind == Kind::Step && schedule.replicas.empty())
          base.options.updates = ++updates[{rank, action.stage}];
    INFO(base.name);
    CHECK(check(table, base.options).message == "");
    base.execution = execute(table);
    CHECK(base.execution.error == "");
    bases.push_back(std::move(base));
  }

  struct Chosen {
    std::vector<Action> *actions;
    size_t rank, index;
    Action &get() const { return (*actions)[index]; }
  };
  Chosen choose(Table &table) {
    const size_t rank = draw(table.ranks.size());
    return {&table.ranks[rank], rank, draw(table.ranks[rank].size())};
  }

  void drop(const Base &, Mutant &mutant) {
    Chosen chosen = choose(mutant.table);
    mutant.what = "drop " + toString(chosen.get());
    chosen.actions->erase(chosen.actions->begin() + long(chosen.index));
  }

  void twice(const Base &, Mutant &mutant) {
    Chosen chosen = choose(mutant.table);
    const Action action = chosen.get();
    mutant.what = "double " + toString(action);
    const size_t to = draw(2) ? chosen.index : draw(chosen.actions->size() + 1);
    chosen.actions->insert(chosen.actions->begin() + long(to), action);
  }

  void resize(const Base &base, Mutant &mutant) {
    Chosen chosen = choose(mutant.table);
    Action &action = chosen.get();
    if (!hasMicroBatch(action.kind))
      return;
    mutant.what = "resize " + toString(action);
    if (isSend(action.kind) || isReceive(action.kind)) {
      mutant.options.bytes = [rank = chosen.rank,
                              action](int32_t other, const Action &transfer) {
        return size_t(other) == rank && transfer == action ? 12 : 16;
      };
      return;
    }
    const int32_t slices = base.table.countSlices();
    action.slice = action.slice == kNone ? 0
                   : slices == 1         ? kNone
                                         : int32_t((action.slice + 1) % slices);
  }

  void elsewhere(const Base &base, Mutant &mutant) {
    Chosen chosen = choose(mutant.table);
    Action &action = chosen.get();
    const std::string name = toString(action);
    if (isSend(action.kind) || isReceive(action.kind)) {
      const int32_t stages = base.table.countStages();
      const int32_t peer = int32_t(draw(size_t(stages) + 1));
      if (peer == peerOf(action))
        return;
      action.peer = peer;
    } else {
      if (mutant.table.ranks.size() == 1)
        return;
      std::vector<Action> &other =
          mutant.table
              .ranks[(chosen.rank + 1 + draw(mutant.table.ranks.size() - 1)) %
                     mutant.table.ranks.size()];
      other.insert(other.begin() + long(draw(other.size() + 1)), action);
      chosen.actions->erase(chosen.actions->begin() + long(chosen.index));
    }
    mutant.what = "send elsewhere " + name;
  }

  void version(const Base &, Mutant &mutant) {
    Chosen chosen = choose(mutant.table);
    Action &action = chosen.get();
    if (!isCompute(action.kind))
      return;
    int32_t newest = 0;
    for (size_t i = 0; i < chosen.index; ++i)
      newest += (*chosen.actions)[i].kind == Kind::Step &&
                (*chosen.actions)[i].stage == action.stage;
    int32_t &number =
        action.kind == Kind::Step ? action.microBatch : action.version;
    const int32_t now = number != kNone             ? number
                        : action.kind == Kind::Step ? newest + 1
                                                    : newest;
    const int32_t other = int32_t(draw(size_t(now) + 3));
    if (other == now)
      return;
    mutant.what = "change the version of " + toString(action);
    number = other;
  }

  using Change = void (Campaign::*)(const Base &, Mutant &);
  static constexpr Change kinds[] = {&Campaign::drop, &Campaign::twice,
                                     &Campaign::resize, &Campaign::elsewhere,
                                     &Campaign::version};
};

void runCampaign(uint32_t seed, int mutants, int moves) {
  Campaign campaign(seed);
  const std::regex names(
      "rank [0-9]+(, cell [0-9]+, |: )[0-9]+[A-Z_]+[0-9.@<>]*(:| is missing)");
  for (int i = 0; i < mutants; ++i) {
    const Base &base = campaign.bases[campaign.draw(campaign.bases.size())];
    const Mutant mutant = campaign.mutate(base);
    INFO(base.name << ": " << mutant.what);
    const Status status = check(mutant.table, mutant.options);
    CHECK_FALSE(status.ok());
    INFO(status.message);
    CHECK(std::regex_search(status.message, names));
  }
  int accepted = 0, refused = 0, harmless = 0;
  for (int i = 0; i < moves;) {
    const Base &base = campaign.bases[campaign.draw(campaign.bases.size())];
    const Table moved = campaign.move(base);
    if (moved == base.table)
      continue;
    ++i;
    INFO(base.name << (moved.countActions() < 100 ? "\n" + moved.text() : ""));
    const Status status = check(moved, base.options);
    INFO(status.message);
    const Execution execution = execute(moved);
    const bool isSame = execution.equals(base.execution);
    ++(status.ok() ? accepted : refused);
    harmless += !status.ok() && isSame;
    INFO(execution.error);
    CHECK((!status.ok() || isSame));
  }
  UNSCOPED_INFO("moved: " << accepted << " accepted, " << refused
                          << " refused, " << harmless
                          << " of them without harm to the values");
  CHECK(accepted > moves / 20);
  CHECK(refused > moves / 20);
}

} // namespace

TEST_CASE("changed tables are refused, or run the same", "[check]") {
  runCampaign(32, 10'000, 2'000);
}

TEST_CASE("many changed tables", "[.]") {
  for (uint32_t seed = 0; seed < 20; ++seed)
    runCampaign(seed, 10'000, 2'000);
}
