//===- StepMemory.cpp - What a step in stages allocates -------------------===//

#include "simulator/timeline/StepMemory.h"
#include "runtime/schedule/Moves.h"

#include <algorithm>
#include <map>
#include <set>

using namespace mlc::simulator;
using namespace mlc::runtime::schedule;

const RankMemory::Point &RankMemory::peak() const {
  return *std::max_element(
      points.begin(), points.end(),
      [](const Point &a, const Point &b) { return a.inUse < b.inUse; });
}

const RankMemory::Point *RankMemory::findBeyond(int64_t bytes) const {
  for (const Point &point : points)
    if (point.allocated.total() > bytes)
      return &point;
  return nullptr;
}

StepMemory StepMemory::join(std::span<const size_t> ends,
                            bool splitsBackward) const {
  auto stageOf = [&](int64_t block) {
    return std::upper_bound(ends.begin(), ends.end(), size_t(block)) -
           ends.begin();
  };
  auto entryOf = [&](StageEntry entry) {
    entry.stage = stageOf(entry.stage);
    if (!splitsBackward && (entry.kind == ActionKind::InputGradient ||
                            entry.kind == ActionKind::WeightGradient))
      entry.kind = ActionKind::Backward;
    return entry;
  };
  auto entriesOf = [&](const std::vector<StageEntry> &all) {
    std::vector<StageEntry> found;
    for (const StageEntry &entry : all)
      if (const StageEntry own = entryOf(entry);
          std::find(found.begin(), found.end(), own) == found.end())
        found.push_back(own);
    return found;
  };
  StepMemory joined;
  joined.samples = samples;
  std::map<StageEntry, StepMemory::Entry> named;
  for (const StepMemory::Entry &block : entries) {
    StepMemory::Entry &own = named[entryOf(block.entry)];
    own.entry = entryOf(block.entry);
    own.arena = std::max(own.arena, block.arena);
    own.scratch = std::max(own.scratch, block.scratch);
  }
  std::map<StageEntry, int64_t> inside;
  // Values that wait alike are taken together.
  std::map<std::pair<StageEntry, std::vector<StageEntry>>, size_t> known;
  for (const StepMemory::Value &value : values) {
    StepMemory::Value own{entryOf(value.source), entriesOf(value.readers),
                          value.bytes};
    std::erase(own.readers, own.source);
    if (own.readers.empty()) {
      inside[own.source] = std::max(inside[own.source], own.bytes);
      continue;
    }
    std::sort(own.readers.begin(), own.readers.end());
    auto [it, isNew] =
        known.try_emplace({own.source, own.readers}, joined.values.size());
    if (isNew)
      joined.values.push_back(std::move(own));
    else
      joined.values[it->second].bytes += own.bytes;
  }
  for (auto &[name, entry] : named) {
    entry.arena += inside[name];
    joined.entries.push_back(entry);
  }
  // States that are used alike are taken together.
  std::map<std::tuple<std::vector<StageEntry>, int64_t, int>, int64_t> bytes;
  for (const StepMemory::State &state : states)
    bytes[{entriesOf(state.users), state.sumOf < 0 ? -1 : stageOf(state.sumOf),
           state.sharedFrom}] += state.bytes;
  for (const auto &[key, sum] : bytes)
    joined.states.push_back(
        {std::get<0>(key), sum, std::get<1>(key), std::get<2>(key)});
  return joined;
}

StepMemory StepMemory::share(int zero, int64_t ranks) const {
  StepMemory shared = *this;
  for (State &state : shared.states)
    if (zero >= state.sharedFrom)
      state.bytes = (state.bytes + ranks - 1) / ranks;
  return shared;
}

namespace {

/// Which ranks run which stages.
struct Places {
  explicit Places(const Table &table);

  bool isOn(int64_t stage, int rank) const {
    const std::vector<int> &having = ranks[stage];
    return std::find(having.begin(), having.end(), rank) != having.end();
  }

  /// By stage.
  std::vector<std::vector<int>> ranks;
  /// By micro-batch and stage.
  std::vector<std::vector<int>> rankOf;
};

Places::Places(const Table &table)
    : ranks(table.countStages()),
      rankOf(table.countMicroBatches(),
             std::vector<int>(table.countStages(), -1)) {
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    for (const Action &action : table.ranks[rank]) {
      if (!isCompute(action.kind) || !hasMicroBatch(action.kind))
        continue;
      const int own = static_cast<int>(rank);
      rankOf[action.microBatch][action.stage] = own;
      if (!isOn(action.stage, own))
        ranks[action.stage].push_back(own);
    }
}

/// Goes through the actions of one rank.
class Walk {
public:
  Walk(const Table &table, const Places &places, const StepMemory &step,
       int rank);
  RankMemory take();

private:
  /// The way of a value for a micro-batch, as far as this rank is on it.
  struct Route {
    bool isMadeHere = false;
    std::vector<StageEntry> readers;
    std::vector<Move> moves;
  };
  /// The places of a value, and for each micro-batch how many reads and sends
  /// are to come. A message that is on its way is waited for, so it needs no
  /// place of its own.
  struct Slots {
    int64_t count = 0;
    std::map<int64_t, size_t> held;
  };

  Route routeOf(const StepMemory::Value &value, int64_t batch) const;
  void openValues();
  void acquire(size_t value, int64_t batch, const Route &route);
  void release(size_t value, int64_t batch);
  void note(const std::string &action, int64_t index, int64_t arena);
  void run(const StageEntry &entry, int64_t batch, const std::string &action,
           int64_t index);
  void transfer(const Action &action);
  void transferUpdate(const StageEntry &entry);
  void reduce(int64_t stage, const std::string &action, int64_t index);
  void runAll();
  void update();
  bool has(const StageEntry &entry) const;

  const Table &table;
  const Places &places;
  const StepMemory &step;
  const int rank;
  std::vector<Slots> slots;
  /// The values that a stage of this rank makes or reads.
  std::vector<size_t> near;
  std::map<StageEntry, const StepMemory::Entry *> entries;
  int64_t held = 0; ///< bytes of values that are waited for
  std::set<StageEntry> hasRun;
  std::set<size_t> hasState;
  std::set<int64_t> hasReduced;
  MemoryParts allocated;
  RankMemory found;
};

Walk::Walk(const Table &table, const Places &places, const StepMemory &step,
           int rank)
    : table(table), places(places), step(step), rank(rank),
      slots(step.values.size()) {
  allocated.samples = step.samples;
  for (const StepMemory::Entry &entry : step.entries)
    entries[entry.entry] = &entry;
  for (size_t i = 0; i < step.values.size(); ++i) {
    const StepMemory::Value &value = step.values[i];
    if (places.isOn(value.source.stage, rank) ||
        std::any_of(value.readers.begin(), value.readers.end(),
                    [&](const StageEntry &reader) {
                      return places.isOn(reader.stage, rank);
                    }))
      near.push_back(i);
  }
}

bool Walk::has(const StageEntry &entry) const {
  return entries.count(entry) != 0;
}

Walk::Route Walk::routeOf(const StepMemory::Value &value, int64_t batch) const {
  auto ranksOf = [&](int64_t stage) {
    return value.source.isUpdate()
               ? places.ranks[stage]
               : std::vector<int>{places.rankOf[batch][stage]};
  };
  auto isHere = [&](const std::vector<int> &there) {
    return std::find(there.begin(), there.end(), rank) != there.end();
  };
  const std::vector<int> makers = ranksOf(value.source.stage);
  Route route;
  route.isMadeHere = isHere(makers);
  std::vector<ValueReader> all;
  for (const StageEntry &reader : value.readers) {
    all.push_back({reader.stage, ranksOf(reader.stage)});
    if (isHere(all.back().ranks))
      route.readers.push_back(reader);
  }
  for (const Move &move : findMoves(value.source.stage, makers, all))
    if (move.from == rank || move.to == rank)
      route.moves.push_back(move);
  return route;
}

/// Values that are sent have two places from the start.
void Walk::openValues() {
  for (size_t i : near) {
    const StepMemory::Value &value = step.values[i];
    bool moves = false;
    if (value.source.isUpdate())
      moves = !routeOf(value, -1).moves.empty();
    // Where each stage has one rank, micro-batches are alike.
    const bool isAlike =
        places.ranks[value.source.stage].size() == 1 &&
        std::all_of(value.readers.begin(), value.readers.end(),
                    [&](const StageEntry &reader) {
                      return places.ranks[reader.stage].size() == 1;
                    });
    const size_t batches = isAlike ? std::min<size_t>(places.rankOf.size(), 1)
                                   : places.rankOf.size();
    for (size_t batch = 0;
         !value.source.isUpdate() && !moves && batch < batches; ++batch)
      moves = !routeOf(value, static_cast<int64_t>(batch)).moves.empty();
    slots[i].count = moves ? 2 : 0;
    allocated.carried += slots[i].count * value.bytes;
  }
}

void Walk::acquire(size_t value, int64_t batch, const Route &route) {
  Slots &own = slots[value];
  held += own.held.count(batch) ? 0 : step.values[value].bytes;
  own.held[batch] =
      route.readers.size() + (route.isMadeHere ? route.moves.size() : 0);
  if (static_cast<int64_t>(own.held.size()) <= own.count)
    return;
  ++own.count;
  allocated.carried += step.values[value].bytes;
}

void Walk::release(size_t value, int64_t batch) {
  auto own = slots[value].held.find(batch);
  if (own == slots[value].held.end() || --own->second != 0)
    return;
  slots[value].held.erase(own);
  held -= step.values[value].bytes;
}

void Walk::note(const std::string &action, int64_t index, int64_t arena) {
  const int64_t inUse =
      allocated.states + allocated.sums + allocated.samples + arena + held;
  found.points.push_back({action, index, allocated, inUse});
}

void Walk::run(const StageEntry &entry, int64_t batch,
               const std::string &action, int64_t index) {
  int64_t arena = 0;
  const bool isFirst = hasRun.insert(entry).second;
  if (auto known = entries.find(entry); known != entries.end()) {
    const StepMemory::Entry &one = *known->second;
    arena = one.arena + one.scratch;
    allocated.arenas += isFirst ? one.arena : 0;
    allocated.scratch += isFirst ? one.scratch : 0;
  }
  for (size_t i = 0; isFirst && i < step.states.size(); ++i) {
    const StepMemory::State &state = step.states[i];
    if (std::find(state.users.begin(), state.users.end(), entry) !=
            state.users.end() &&
        hasState.insert(i).second)
      allocated.states += state.bytes;
  }
  for (size_t i : near)
    if (step.values[i].source == entry)
      acquire(i, batch, routeOf(step.values[i], batch));
  note(action, index, arena);
  for (size_t i : near)
    for (const StageEntry &reader : step.values[i].readers)
      if (reader == entry)
        release(i, batch);
}

void Walk::transfer(const Action &action) {
  const bool sends = isSend(action.kind);
  const int64_t from = sends ? action.stage : peerOf(action);
  const int64_t to = sends ? peerOf(action) : action.stage;
  for (size_t i : near) {
    const StepMemory::Value &value = step.values[i];
    if (value.source.isUpdate() || value.source.stage != from)
      continue;
    const Route route = routeOf(value, action.microBatch);
    for (const Move &move : route.moves)
      if (move.stage == to) {
        if (route.isMadeHere)
          release(i, action.microBatch);
        else
          acquire(i, action.microBatch, route);
      }
  }
}

void Walk::transferUpdate(const StageEntry &entry) {
  for (size_t i : near) {
    if (!(step.values[i].source == entry))
      continue;
    const Route route = routeOf(step.values[i], -1);
    for (size_t m = 0; m < route.moves.size(); ++m) {
      if (route.isMadeHere)
        release(i, -1);
      else
        acquire(i, -1, route);
    }
  }
}

/// Each rank of a stage has its own sums and another rank's beside.
void Walk::reduce(int64_t stage, const std::string &action, int64_t index) {
  if (places.ranks[stage].size() < 2 || !places.isOn(stage, rank) ||
      !hasReduced.insert(stage).second)
    return;
  for (const StepMemory::State &state : step.states)
    if (state.sumOf == stage)
      allocated.sums += 2 * state.bytes;
  note(action, index, 0);
}

void Walk::runAll() {
  const std::vector<Action> &actions = table.ranks[rank];
  for (size_t i = 0; i < actions.size(); ++i) {
    const Action &action = actions[i];
    const auto index = static_cast<int64_t>(i);
    const std::string name = toString(action);
    if (isSend(action.kind) || isReceive(action.kind)) {
      transfer(action);
      note(name, index, 0);
    } else if (action.kind == ActionKind::ReduceGradients) {
      reduce(action.stage, name, index);
    } else if (isCompute(action.kind) && hasMicroBatch(action.kind)) {
      const StageEntry whole{action.stage, action.kind};
      if (has(whole)) {
        run(whole, action.microBatch, name, index);
        continue;
      }
      for (ActionKind part :
           {ActionKind::InputGradient, ActionKind::WeightGradient})
        if (action.kind == ActionKind::Backward && has({action.stage, part}))
          run({action.stage, part}, action.microBatch, name, index);
    }
  }
  for (int64_t stage = 0; stage < table.countStages(); ++stage)
    reduce(stage, std::to_string(stage) + "REDUCE_GRAD", -1);
}

/// Norms from the last stage on, then updates from the first; all ranks go
/// through all of them.
void Walk::update() {
  const int64_t stages = table.countStages();
  std::vector<StageEntry> all;
  for (int64_t stage = stages; stage-- > 0;)
    all.push_back({stage, ActionKind::Norm});
  for (int64_t stage = 0; stage < stages; ++stage)
    all.push_back({stage, ActionKind::Step});
  for (const StageEntry &entry : all) {
    if (!has(entry))
      continue;
    int64_t index = -1;
    for (size_t i = 0; i < table.ranks[rank].size(); ++i)
      if (table.ranks[rank][i].kind == entry.kind &&
          table.ranks[rank][i].stage == entry.stage)
        index = static_cast<int64_t>(i);
    if (places.isOn(entry.stage, rank))
      run(entry, -1, entry.name(), index);
    transferUpdate(entry);
  }
}

RankMemory Walk::take() {
  openValues();
  note("", -1, 0);
  runAll();
  update();
  return std::move(found);
}

} // namespace

std::vector<RankMemory> mlc::simulator::findMemory(const Table &table,
                                                   const StepMemory &step) {
  const Places places(table);
  std::vector<RankMemory> all;
  for (size_t rank = 0; rank < table.ranks.size(); ++rank)
    all.push_back(Walk(table, places, step, static_cast<int>(rank)).take());
  return all;
}
