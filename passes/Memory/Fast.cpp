//===- Fast.cpp - Schedules within a budget, fast -------------------------===//

#include "passes/Memory/Fast.h"

#include <algorithm>
#include <limits>

namespace mlc::remat {

namespace {

/// Changes whether a value is held when stages `from` to `to` begin.
struct Move {
  unsigned value;
  size_t from, to;
  bool held;
};

/// A plan with the costs of its stages, changed move by move.
class State {
public:
  State(const Problem &problem, StageMaker &maker, uint64_t budget)
      : holds(keepAll(problem)), stages(problem.steps.size()),
        problem(&problem), maker(&maker), budget(budget) {
    for (size_t t = 0; t < stages.size(); ++t)
      update(t);
  }

  /// Applies a move and its consequences; false, without changes, if a stage
  /// becomes infeasible.
  bool apply(const Move &move);
  /// Undoes everything since the last `keep`.
  void undo();
  void keep() {
    cells.clear();
    saved.clear();
  }
  /// Stops holding values after their last readers.
  void trim();

  bool touches(size_t t, unsigned v) const {
    const std::vector<unsigned> &touched = stages[t].touched;
    return std::find(touched.begin(), touched.end(), v) != touched.end();
  }
  /// Whether stage `t` recomputes `v`.
  bool makesAgain(size_t t, unsigned v) const {
    return !holds(t, v) && problem->values[v].producers.front() < t;
  }
  uint64_t peak() const {
    uint64_t most = 0;
    for (const Stage &stage : stages)
      most = std::max(most, stage.peak);
    return most;
  }
  size_t worst() const {
    size_t at = 0;
    for (size_t t = 1; t < stages.size(); ++t)
      if (stages[t].peak > stages[at].peak)
        at = t;
    return at;
  }

  Holds holds;
  std::vector<Stage> stages;
  double seconds = 0;
  /// Bytes above the budget, summed over stages.
  uint64_t over = 0;

private:
  uint64_t excess(const Stage &stage) const {
    return stage.peak > budget ? stage.peak - budget : 0;
  }
  void remember(size_t t) { saved.push_back({t, stages[t]}); }
  void update(size_t t) {
    seconds -= stages[t].seconds;
    over -= excess(stages[t]);
    maker->make(holds, t, stages[t]);
    seconds += stages[t].seconds;
    over += excess(stages[t]);
  }
  void setCells(const Move &move);

  struct Cell {
    size_t stage;
    unsigned value;
    bool held;
  };
  const Problem *problem;
  StageMaker *maker;
  uint64_t budget;
  std::vector<Cell> cells;
  std::vector<std::pair<size_t, Stage>> saved;
};

void State::setCells(const Move &move) {
  for (size_t t = move.from; t <= move.to; ++t) {
    cells.push_back({t, move.value, holds(t, move.value)});
    holds.set(t, move.value, move.held);
  }
}

bool State::apply(const Move &move) {
  std::vector<Move> pending{move};
  while (!pending.empty()) {
    Move next = pending.back();
    pending.pop_back();
    setCells(next);
    uint64_t bytes = problem->values[next.value].bytes;
    for (size_t t = next.from - 1; t <= next.to && t < stages.size(); ++t) {
      remember(t);
      maker->addWork(1);
      bool isInside = t >= next.from && t + 1 <= next.to;
      if (isInside && !touches(t, next.value)) {
        // The value only takes or frees memory; nothing else changes.
        over -= excess(stages[t]);
        stages[t].peak += next.held ? bytes : -bytes;
        over += excess(stages[t]);
        continue;
      }
      update(t);
      if (stages[t].missing < 0)
        continue;
      // It cannot be recomputed, so hold it longer.
      unsigned missing = stages[t].missing;
      size_t from = t;
      const std::vector<unsigned> &producers =
          problem->values[missing].producers;
      if (producers.back() >= t || problem->canDrop(missing)) {
        undo();
        return false;
      }
      while (from > size_t(producers.front()) + 1 && !holds(from - 1, missing))
        --from;
      pending.push_back({missing, from, t, true});
    }
  }
  return true;
}

void State::undo() {
  for (size_t i = cells.size(); i-- > 0;)
    holds.set(cells[i].stage, cells[i].value, cells[i].held);
  for (size_t i = saved.size(); i-- > 0;) {
    auto &[t, stage] = saved[i];
    seconds += stage.seconds - stages[t].seconds;
    over += excess(stage) - excess(stages[t]);
    std::swap(stages[t], stage);
  }
  keep();
}

void State::trim() {
  size_t end = stages.size();
  bool changed = true;
  while (changed) {
    changed = false;
    for (unsigned v = 0; v < problem->values.size(); ++v)
      for (size_t t = end; t > problem->values[v].producers.back(); --t) {
        bool isLast = holds(t, v) && (t == end || !holds(t + 1, v));
        bool isUsed = t == end ? problem->values[v].isOutput : touches(t, v);
        if (isLast && !isUsed)
          changed |= apply({v, t, t, false});
      }
  }
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

class Search {
public:
  Search(const Problem &problem, uint64_t budget, uint64_t work)
      : problem(problem), maker(problem, false), state(problem, maker, budget),
        work(work) {}

  Plan run();

private:
  uint64_t random(uint64_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
  }
  void addDrops(size_t t, std::vector<Move> &moves) const;
  void addDrop(size_t from, size_t to, unsigned v,
               std::vector<Move> &moves) const;
  void addHolds(size_t t, std::vector<Move> &moves) const;
  bool fit(double noise);
  void save();
  void perturb();
  /// Out of work, or long without improvement.
  bool isOver() const {
    constexpr uint64_t patience = 200000;
    uint64_t done = maker.getWork();
    return done >= work || done > 2 * lastBetter + patience;
  }

  const Problem &problem;
  StageMaker maker;
  State state;
  uint64_t work, lastBetter = 0, seed = 0x9e3779b97f4a7c15u;
  Plan best;
};

/// Adds the drop of `v` from the stage after a touch to the next touch.
void Search::addDrop(size_t from, size_t to, unsigned v,
                     std::vector<Move> &moves) const {
  from = std::max<size_t>(from, problem.values[v].producers.back() + 1);
  to = std::min(to, problem.steps.size() - 1);
  if (from <= to)
    moves.push_back({v, from, to, false});
}

/// Adds the possible drops around stage `t`.
void Search::addDrops(size_t t, std::vector<Move> &moves) const {
  size_t end = problem.steps.size();
  for (unsigned v = 0; v < problem.values.size(); ++v) {
    if (problem.values[v].bytes == 0 || !problem.canDrop(v))
      continue;
    bool before = state.holds(t, v), behind = state.holds(t + 1, v);
    if (!before && !behind)
      continue;
    size_t from = t, to = t + 1;
    if (before)
      while (from > 1 && state.holds(from - 1, v) &&
             !state.touches(from - 1, v))
        --from;
    if (behind)
      while (to < end && state.holds(to + 1, v) && !state.touches(to, v))
        ++to;
    if (state.touches(t, v)) {
      if (before)
        addDrop(from, t, v, moves);
      if (behind)
        addDrop(t + 1, to, v, moves);
    } else if (before && behind) {
      addDrop(from, to, v, moves);
    }
  }
}

/// Adds moves that hold values that stage `t` recomputes.
void Search::addHolds(size_t t, std::vector<Move> &moves) const {
  for (unsigned v : state.stages[t].touched) {
    if (!state.makesAgain(t, v))
      continue;
    size_t from = t;
    while (from > 1 && !state.holds(from - 1, v) && !state.touches(from - 1, v))
      --from;
    moves.push_back({v, from, t, true});
  }
}

/// Makes moves until nothing is above the budget, each time the one with the
/// least time per byte; false if none helps.
bool Search::fit(double noise) {
  std::vector<Move> moves;
  // A first plan may take longer, but not forever.
  uint64_t most = std::max<uint64_t>(work * 16, maker.getWork() + 1);
  while (state.over > 0) {
    if (maker.getWork() >= most)
      return false;
    moves.clear();
    size_t t = state.worst();
    addDrops(t, moves);
    addHolds(t, moves);
    state.keep();
    double seconds = state.seconds, bestScore = 0;
    uint64_t over = state.over;
    const Move *chosen = nullptr;
    for (const Move &move : moves) {
      if (!state.apply(move))
        continue;
      if (state.over < over) {
        double cost = std::max(state.seconds - seconds, 0.0) + 1e-12;
        double score = double(over - state.over) / cost;
        score *= 1 + noise * double(random(1024)) / 1024;
        if (score > bestScore) {
          bestScore = score;
          chosen = &move;
        }
      }
      state.undo();
    }
    if (!chosen)
      return false;
    state.apply(*chosen);
    state.keep();
  }
  return true;
}

/// Holds values instead of recomputing them, the most expensive first, as long
/// as that fits.
void Search::save() {
  std::vector<Move> moves;
  while (true) {
    moves.clear();
    for (size_t t = 0; t < state.stages.size(); ++t)
      addHolds(t, moves);
    state.keep();
    double seconds = state.seconds, least = seconds;
    const Move *chosen = nullptr;
    for (const Move &move : moves) {
      if (!state.apply(move))
        continue;
      if (state.over == 0 && state.seconds < least) {
        least = state.seconds;
        chosen = &move;
      }
      state.undo();
    }
    if (!chosen)
      break;
    state.apply(*chosen);
    state.keep();
  }
  state.trim();
  state.keep();
}

/// Undoes some drops, or drops other values.
void Search::perturb() {
  std::vector<Move> moves;
  unsigned count = 1 + random(3);
  for (unsigned i = 0; i < count; ++i) {
    moves.clear();
    if (random(4)) {
      for (size_t t = 0; t < state.stages.size(); ++t)
        addHolds(t, moves);
    } else {
      addDrops(random(state.stages.size()), moves);
    }
    if (!moves.empty())
      state.apply(moves[random(moves.size())]);
  }
  state.trim();
  state.keep();
}

Plan Search::run() {
  best.fits = fit(0);
  if (!best.fits) {
    best.holds = state.holds;
    best.peak = state.peak();
    best.extraSeconds = state.seconds;
  } else {
    save();
  }
  State good = state;
  auto take = [&] {
    good = state;
    best = {state.holds, state.seconds, state.peak(), true};
  };
  if (best.fits)
    take();
  lastBetter = maker.getWork();
  while (!isOver() && !(best.fits && best.extraSeconds <= 0)) {
    perturb();
    bool fits = fit(2);
    if (fits) {
      save();
      if (!best.fits || state.seconds < best.extraSeconds * (1 - 1e-9))
        lastBetter = maker.getWork();
      if (!best.fits || state.seconds <= best.extraSeconds)
        take();
    } else if (!best.fits) {
      if (state.peak() < best.peak) {
        lastBetter = maker.getWork();
        best = {state.holds, state.seconds, state.peak(), false};
      }
      // Accepts equal plans, too, or the search would stall.
      if (state.over <= good.over)
        good = state;
    }
    state = good;
  }
  return best;
}

} // namespace

Plan solveFast(const Problem &problem, uint64_t budget, uint64_t work) {
  if (problem.steps.empty())
    return {Holds(0, problem.values.size()), 0, 0, true};
  return Search(problem, budget, work).run();
}

} // namespace mlc::remat
