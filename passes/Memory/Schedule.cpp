//===- Schedule.cpp - Schedules with repeated steps -----------------------===//

#include "passes/Memory/Schedule.h"

#include <algorithm>

namespace mlc::remat {

bool Problem::canDrop(unsigned value) const {
  const std::vector<unsigned> &producers = values[value].producers;
  return std::all_of(producers.begin(), producers.end(),
                     [&](unsigned step) { return steps[step].canRepeat; });
}

double Problem::seconds() const {
  double sum = 0;
  for (const Step &step : steps)
    sum += step.seconds;
  return sum;
}

/// The last stage whose own step touches each value.
static std::vector<size_t> lastTouches(const Problem &problem) {
  std::vector<size_t> last(problem.values.size(), 0);
  for (size_t t = 0; t < problem.steps.size(); ++t) {
    for (unsigned v : problem.steps[t].inputs)
      last[v] = t;
    for (unsigned v : problem.steps[t].outputs)
      last[v] = t;
  }
  for (size_t v = 0; v < last.size(); ++v)
    if (problem.values[v].isOutput)
      last[v] = problem.steps.size();
  return last;
}

Holds keepAll(const Problem &problem) {
  Holds holds(problem.steps.size(), problem.values.size());
  std::vector<size_t> last = lastTouches(problem);
  for (unsigned v = 0; v < last.size(); ++v)
    for (size_t t = problem.values[v].producers.front() + 1; t <= last[v]; ++t)
      holds.set(t, v, true);
  return holds;
}

uint64_t lowerBound(const Problem &problem) {
  std::vector<size_t> last = lastTouches(problem);
  uint64_t bound = 0;
  for (unsigned t = 0; t < problem.steps.size(); ++t) {
    const Step &step = problem.steps[t];
    uint64_t bytes = 0;
    auto add = [&](const std::vector<unsigned> &list) {
      for (unsigned v : list)
        bytes += problem.values[v].bytes;
    };
    add(step.inputs);
    for (unsigned v : step.outputs)
      if (std::find(step.inputs.begin(), step.inputs.end(), v) ==
          step.inputs.end())
        bytes += problem.values[v].bytes;
    for (unsigned v = 0; v < last.size(); ++v) {
      bool isOperand = std::count(step.inputs.begin(), step.inputs.end(), v) ||
                       std::count(step.outputs.begin(), step.outputs.end(), v);
      // A value in parts cannot be dropped before it is complete.
      const std::vector<unsigned> &producers = problem.values[v].producers;
      size_t until = problem.canDrop(v) ? producers.back() : last[v];
      if (!isOperand && producers.front() < t && t < until)
        bytes += problem.values[v].bytes;
    }
    std::vector<unsigned> taken;
    for (auto [output, input] : step.takeovers) {
      bool dies = problem.canDrop(input) || last[input] == t;
      if (dies && problem.values[output].bytes == problem.values[input].bytes &&
          !std::count(taken.begin(), taken.end(), input) &&
          !std::count(taken.begin(), taken.end(), output)) {
        taken.insert(taken.end(), {input, output});
        bytes -= problem.values[input].bytes;
      }
    }
    bound = std::max(bound, bytes);
  }
  return bound;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

StageMaker::StageMaker(const Problem &problem, bool keepsRuns)
    : problem(problem), keepsRuns(keepsRuns), chosen(problem.steps.size()),
      live(problem.values.size()), given(problem.values.size()),
      lastTouch(problem.values.size()), lastStamp(problem.values.size()) {}

/// Chooses the steps that recompute `value` as `reader` reads it, unless it is
/// held, and transitively their inputs; false if some value cannot be
/// recomputed.
bool StageMaker::need(const Holds &holds, unsigned t, unsigned value,
                      unsigned reader, Stage &stage) {
  pending.assign(1, {value, reader});
  while (!pending.empty()) {
    auto [v, by] = pending.back();
    pending.pop_back();
    if (holds(t, v))
      continue;
    const std::vector<unsigned> &producers = problem.values[v].producers;
    for (unsigned p : producers) {
      // Parts of later steps were not read.
      if (p >= by || chosen[p] == stamp)
        continue;
      if (producers.back() >= t || !problem.steps[p].canRepeat) {
        stage.missing = v;
        return false;
      }
      chosen[p] = stamp;
      order.push_back(p);
      for (unsigned input : problem.steps[p].inputs)
        pending.push_back({input, p});
    }
  }
  return true;
}

/// Bytes of outputs of the run at `position` that take over inputs, which
/// `given` marks.
uint64_t StageMaker::takenOver(const Step &step, size_t position) {
  uint64_t bytes = 0;
  for (auto [output, input] : step.takeovers) {
    // `live` marks outputs that are new and inputs that die.
    if (given[output] == stamp + 1 && given[input] == stamp + 2 &&
        lastTouch[input] == position &&
        problem.values[output].bytes == problem.values[input].bytes) {
      bytes += problem.values[input].bytes;
      given[output] = given[input] = 0;
    }
  }
  return bytes;
}

/// Chooses the runs of stage `t`, in order; false if it is infeasible.
bool StageMaker::choose(const Holds &holds, unsigned t, Stage &stage) {
  order.clear();
  const Step &own = problem.steps[t];
  auto isOlder = [&](unsigned v) {
    return problem.values[v].producers.front() < t;
  };
  for (unsigned v : own.inputs)
    if (isOlder(v) && !need(holds, t, v, t, stage))
      return false;
  for (unsigned v = 0; v < problem.values.size(); ++v)
    if (!holds(t, v) && holds(t + 1, v) && isOlder(v) &&
        !need(holds, t, v, t, stage))
      return false;
  for (unsigned v : own.outputs)
    if (isOlder(v) && !holds(t, v)) {
      stage.missing = v;
      return false;
    }
  std::sort(order.begin(), order.end());
  order.push_back(t);
  auto touch = [&](unsigned v, size_t position) {
    if (lastStamp[v] != stamp) {
      lastStamp[v] = stamp;
      stage.touched.push_back(v);
    }
    lastTouch[v] = position;
  };
  for (size_t i = 0; i < order.size(); ++i) {
    for (unsigned v : problem.steps[order[i]].inputs)
      touch(v, i);
    for (unsigned v : problem.steps[order[i]].outputs)
      touch(v, i);
  }
  return true;
}

/// Adds the run at `position`; `alive` is the memory before it, and then after
/// it.
void StageMaker::addRun(const Holds &holds, unsigned t, size_t position,
                        uint64_t &alive, Stage &stage) {
  const Step &step = problem.steps[order[position]];
  Run run{order[position]};
  auto diesHere = [&](unsigned v) {
    return lastTouch[v] == position && !holds(t + 1, v);
  };
  uint64_t extra = 0;
  for (unsigned v : step.inputs)
    if (diesHere(v))
      given[v] = stamp + 2;
  for (unsigned v : step.outputs) {
    bool isThere = holds(t, v) || live[v] == stamp;
    bool isCopy = holds(t, v) && run.step != t;
    if (!isThere) {
      live[v] = stamp;
      alive += problem.values[v].bytes;
    } else if (isCopy) {
      extra += problem.values[v].bytes;
    }
    given[v] = !isThere || isCopy ? stamp + 1 : 0;
  }
  stage.peak = std::max(stage.peak, alive + extra - takenOver(step, position));
  for (const std::vector<unsigned> *list : {&step.inputs, &step.outputs})
    for (unsigned v : *list)
      if (diesHere(v) && !std::count(run.frees.begin(), run.frees.end(), v)) {
        run.frees.push_back(v);
        alive -= problem.values[v].bytes;
      }
  if (run.step != t)
    stage.seconds += step.seconds;
  if (keepsRuns)
    stage.runs.push_back(std::move(run));
}

void StageMaker::make(const Holds &holds, unsigned t, Stage &stage) {
  stage.runs.clear();
  stage.touched.clear();
  stage.seconds = 0;
  stage.peak = 0;
  stage.missing = -1;
  stamp += 3;
  if (!choose(holds, t, stage))
    return;
  uint64_t alive = 0;
  for (unsigned v = 0; v < problem.values.size(); ++v)
    if (holds(t, v))
      alive += problem.values[v].bytes;
  for (size_t i = 0; i < order.size(); ++i)
    addRun(holds, t, i, alive, stage);
  // Scanning all values is work, too.
  work += order.size() + problem.values.size() / 32;
  if (!keepsRuns)
    return;
  for (unsigned v = 0; v < problem.values.size(); ++v)
    if (holds(t, v) && !holds(t + 1, v) && lastStamp[v] != stamp)
      stage.runs.back().frees.push_back(v);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

Schedule toSchedule(const Problem &problem, const Holds &holds) {
  Schedule schedule;
  StageMaker maker(problem);
  Stage stage;
  for (unsigned t = 0; t < problem.steps.size(); ++t) {
    maker.make(holds, t, stage);
    if (stage.missing >= 0)
      return {};
    schedule.runs.insert(schedule.runs.end(), stage.runs.begin(),
                         stage.runs.end());
  }
  if (!simulate(problem, schedule))
    return {};
  return schedule;
}

namespace {

/// Executes runs one by one.
class Simulation {
public:
  explicit Simulation(const Problem &problem)
      : problem(problem), parts(problem.values.size()) {
    for (size_t v = 0; v < parts.size(); ++v)
      parts[v].assign(problem.values[v].producers.size(), 0);
  }

  bool run(const Run &run) {
    if (run.step >= problem.steps.size() || run.step > next)
      return false;
    const Step &step = problem.steps[run.step];
    bool isFirst = run.step == next;
    if (!isFirst && !step.canRepeat)
      return false;
    next += isFirst;
    for (unsigned v : step.inputs)
      if (!canRead(run.step, v))
        return false;
    std::vector<unsigned> made;
    uint64_t extra = 0;
    for (unsigned v : step.outputs) {
      bool isThere = isAlive(v);
      uint8_t &part = partOf(v, run.step);
      if (!isThere)
        alive += problem.values[v].bytes;
      else if (part)
        extra += problem.values[v].bytes;
      if (!isThere || part)
        made.push_back(v);
      part = 1;
    }
    peak = std::max(peak, alive + extra - takenOver(step, run, made));
    for (unsigned v : run.frees) {
      if (v >= parts.size() || !isAlive(v))
        return false;
      parts[v].assign(parts[v].size(), 0);
      alive -= problem.values[v].bytes;
    }
    seconds += step.seconds;
    return true;
  }

  bool isOver() const {
    for (unsigned v = 0; v < parts.size(); ++v)
      if (problem.values[v].isOutput &&
          std::count(parts[v].begin(), parts[v].end(), 0))
        return false;
    return next == problem.steps.size();
  }

  double seconds = 0;
  uint64_t peak = 0;

private:
  bool isAlive(unsigned v) const {
    return std::count(parts[v].begin(), parts[v].end(), 1);
  }
  /// Whether the parts exist that existed when the step ran first.
  bool canRead(unsigned step, unsigned v) const {
    const std::vector<unsigned> &producers = problem.values[v].producers;
    for (size_t i = 0; i < producers.size(); ++i)
      if (producers[i] < step && !parts[v][i])
        return false;
    return producers.front() >= step || isAlive(v);
  }
  uint8_t &partOf(unsigned v, unsigned step) {
    const std::vector<unsigned> &producers = problem.values[v].producers;
    return parts[v][std::find(producers.begin(), producers.end(), step) -
                    producers.begin()];
  }
  uint64_t takenOver(const Step &step, const Run &run,
                     std::vector<unsigned> made) const {
    uint64_t bytes = 0;
    std::vector<unsigned> dying = run.frees;
    for (auto [output, input] : step.takeovers) {
      auto from = std::find(dying.begin(), dying.end(), input);
      auto to = std::find(made.begin(), made.end(), output);
      if (from == dying.end() || to == made.end() ||
          problem.values[output].bytes != problem.values[input].bytes)
        continue;
      bytes += problem.values[input].bytes;
      dying.erase(from);
      made.erase(to);
    }
    return bytes;
  }

  const Problem &problem;
  /// For each value, which of its producers have run since it was freed.
  std::vector<std::vector<uint8_t>> parts;
  unsigned next = 0;
  uint64_t alive = 0;
};

} // namespace

bool simulate(const Problem &problem, Schedule &schedule) {
  Simulation simulation(problem);
  for (const Run &run : schedule.runs)
    if (!simulation.run(run))
      return false;
  schedule.seconds = simulation.seconds;
  schedule.peak = simulation.peak;
  return simulation.isOver();
}

} // namespace mlc::remat
