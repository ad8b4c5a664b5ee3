//===- Problems.h - Random problems and their optimum by search -*- C++ -*-===//

#ifndef MLC_TEST_UNIT_MEMORY_PROBLEMS_H
#define MLC_TEST_UNIT_MEMORY_PROBLEMS_H

#include "passes/Memory/Schedule.h"
#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <random>

namespace mlc::remat {

inline unsigned below(std::mt19937_64 &random, unsigned n) {
  return unsigned(random() % n);
}

/// Adds a step that makes one value of `bytes` of `inputs`; returns the value.
inline unsigned addStep(Problem &problem, double seconds, uint64_t bytes,
                        std::vector<unsigned> inputs) {
  unsigned v = problem.values.size();
  problem.values.push_back({bytes, {unsigned(problem.steps.size())}, false});
  problem.steps.push_back({seconds, std::move(inputs), {v}, true, {}});
  return v;
}

/// Any graph: steps with one or two results, values in two parts, takeovers,
/// steps that must not run twice, several outputs.
inline Problem randomProblem(uint64_t seed, unsigned count) {
  std::mt19937_64 random(seed);
  Problem problem;
  std::vector<unsigned> halves; // values whose second part is missing
  for (unsigned t = 0; t < count; ++t) {
    std::vector<unsigned> inputs;
    for (unsigned i = below(random, 4); i-- > 0 && !problem.values.empty();) {
      unsigned near = std::min<unsigned>(problem.values.size(), 5);
      unsigned v = below(random, 3)
                       ? problem.values.size() - 1 - below(random, near)
                       : below(random, problem.values.size());
      if (!std::count(inputs.begin(), inputs.end(), v))
        inputs.push_back(v);
    }
    unsigned v =
        addStep(problem, 1 + below(random, 9), 1 + below(random, 9), inputs);
    Step &step = problem.steps.back();
    step.canRepeat = below(random, 8) != 0;
    if (below(random, 8) == 0) {
      step.outputs.push_back(v + 1);
      problem.values.push_back({1 + below(random, 9), {t}, false});
    } else if (!halves.empty() &&
               !std::count(inputs.begin(), inputs.end(), halves.back())) {
      problem.values[halves.back()].producers.push_back(t);
      problem.values.pop_back();
      step.outputs = {halves.back()};
      halves.pop_back();
      continue;
    } else if (below(random, 10) == 0) {
      halves.push_back(v);
    }
    for (unsigned in : inputs)
      if (below(random, 3) == 0) {
        problem.values[v].bytes = problem.values[in].bytes;
        step.takeovers.push_back({v, in});
      }
  }
  for (Datum &value : problem.values)
    value.isOutput = below(random, 8) == 0;
  problem.values.back().isOutput = true;
  return problem;
}

/// A network as it is trained: layers in a chain with connections across, and
/// their gradients in the other direction, each of which reads its layer's
/// input. `layers` layers make 2 * layers + 1 steps.
inline Problem trainingProblem(uint64_t seed, unsigned layers) {
  std::mt19937_64 random(seed);
  Problem problem;
  std::vector<unsigned> forward;
  std::vector<std::vector<unsigned>> inputs;
  unsigned kind = below(random, 3);
  for (unsigned i = 0; i < layers; ++i) {
    std::vector<unsigned> from;
    if (i > 0)
      from.push_back(forward[i - 1]);
    if (i > 2 && below(random, 3) == 0)
      from.push_back(forward[kind == 2 ? below(random, i - 1) : i - 3]);
    double seconds = kind == 0 ? 10 : 1 + below(random, 20);
    uint64_t bytes = kind == 0 ? 64 : 64 * (1 + below(random, 16));
    inputs.push_back(from);
    forward.push_back(addStep(problem, seconds, bytes, from));
  }
  unsigned gradient = addStep(problem, 1, 64, {forward.back()});
  std::map<unsigned, unsigned> pending; // gradients of inputs further back
  for (unsigned i = layers; i-- > 0;) {
    std::vector<unsigned> from{gradient};
    for (unsigned v : inputs[i])
      from.push_back(v);
    if (pending.count(i))
      from.push_back(pending[i]);
    uint64_t bytes =
        i > 0 ? problem.values[forward[i - 1]].bytes : uint64_t(64);
    unsigned next = addStep(problem, 2 * problem.steps[i].seconds, bytes, from);
    for (size_t k = 1; k < inputs[i].size(); ++k)
      pending[inputs[i][k]] = next;
    gradient = next;
  }
  problem.values[gradient].isOutput = true;
  return problem;
}

/// All sequences of runs in which first runs are in order and, unless
/// `anyOrder`, those between two first runs too: Dijkstra's algorithm on what
/// is alive.
class AllSchedules {
public:
  AllSchedules(const Problem &problem, uint64_t budget, bool anyOrder)
      : problem(problem), budget(budget), anyOrder(anyOrder) {
    for (const Datum &value : problem.values) {
      bits.emplace_back();
      for (size_t i = 0; i < value.producers.size(); ++i)
        bits.back().push_back(uint64_t(1) << count++);
    }
  }

  /// The least time; nothing where none fits.
  std::optional<double> search() {
    push(0, {0, -1, 0});
    while (!queue.empty()) {
      auto [time, state] = queue.top();
      queue.pop();
      if (time > best[state])
        continue;
      if (isOver(state))
        return time;
      if (std::get<0>(state) < problem.steps.size())
        leave(time, state);
    }
    return std::nullopt;
  }

private:
  /// The next step of the program, the last that ran since the one before, and
  /// what is alive: a bit for each part of each value.
  using State = std::tuple<unsigned, int, uint64_t>;
  using Entry = std::pair<double, State>;

  uint64_t maskOf(unsigned v) const {
    uint64_t mask = 0;
    for (uint64_t bit : bits[v])
      mask |= bit;
    return mask;
  }
  void push(double time, State state) {
    auto [it, isNew] = best.try_emplace(state, time);
    if (isNew || time < it->second) {
      it->second = time;
      queue.push({time, state});
    }
  }
  bool isOver(const State &state) const {
    auto [next, last, alive] = state;
    for (unsigned v = 0; v < problem.values.size(); ++v)
      if (problem.values[v].isOutput && (alive & maskOf(v)) != maskOf(v))
        return false;
    return next == problem.steps.size();
  }

  /// Frees a value, or runs a step.
  void leave(double time, const State &state) {
    auto [next, last, alive] = state;
    uint64_t bytes = 0;
    for (unsigned v = 0; v < problem.values.size(); ++v)
      if (alive & maskOf(v)) {
        bytes += problem.values[v].bytes;
        if (problem.values[v].producers.back() < next) // it is whole
          push(time, {next, last, alive & ~maskOf(v)});
      }
    for (unsigned k = 0; k <= next; ++k)
      if (k == next ||
          (problem.steps[k].canRepeat && (anyOrder || int(k) > last)))
        run(k, time, state, bytes);
  }

  void run(unsigned k, double time, const State &state, uint64_t bytes) {
    auto [next, last, alive] = state;
    const Step &step = problem.steps[k];
    for (unsigned v : step.inputs)
      for (size_t i = 0; i < bits[v].size(); ++i)
        if (problem.values[v].producers[i] < k && !(alive & bits[v][i]))
          return;
    uint64_t after = alive;
    std::vector<unsigned> made;
    for (unsigned v : step.outputs) {
      const std::vector<unsigned> &producers = problem.values[v].producers;
      uint64_t bit = bits[v][std::find(producers.begin(), producers.end(), k) -
                             producers.begin()];
      if (!(alive & maskOf(v)) || (alive & bit)) {
        bytes += problem.values[v].bytes;
        made.push_back(v);
      }
      after |= bit;
    }
    State to{k == next ? next + 1 : next, k == next || anyOrder ? -1 : int(k),
             after};
    for (uint32_t chosen = 0; chosen < 1u << step.takeovers.size(); ++chosen)
      takeOver(chosen, step, next, made, bytes, time + step.seconds, to);
  }

  /// The step with those of its takeovers that `chosen` has bits of.
  void takeOver(uint32_t chosen, const Step &step, unsigned next,
                const std::vector<unsigned> &made, uint64_t bytes, double time,
                State to) {
    std::vector<unsigned> used;
    for (size_t i = 0; i < step.takeovers.size(); ++i) {
      if (!(chosen >> i & 1))
        continue;
      auto [output, input] = step.takeovers[i];
      if (problem.values[input].producers.back() >= next ||
          problem.values[output].bytes != problem.values[input].bytes ||
          !std::count(made.begin(), made.end(), output) ||
          std::count(used.begin(), used.end(), output) ||
          std::count(used.begin(), used.end(), input))
        return;
      used.insert(used.end(), {output, input});
      bytes -= problem.values[input].bytes;
      std::get<2>(to) &= ~maskOf(input);
    }
    if (bytes <= budget)
      push(time, to);
  }

  const Problem &problem;
  uint64_t budget;
  bool anyOrder;
  unsigned count = 0;
  std::vector<std::vector<uint64_t>> bits;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  std::map<State, double> best;
};

inline std::optional<double> searchAll(const Problem &problem, uint64_t budget,
                                       bool anyOrder) {
  return AllSchedules(problem, budget, anyOrder).search();
}

} // namespace mlc::remat

#endif // MLC_TEST_UNIT_MEMORY_PROBLEMS_H
