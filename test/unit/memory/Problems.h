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

/// The least time within `budget`, by all sequences of runs in which first
/// runs are in order and, unless `anyOrder`, those between two first runs too;
/// nothing where none fits.
inline std::optional<double> searchAll(const Problem &problem, uint64_t budget,
                                       bool anyOrder) {
  // A bit for each part of each value.
  std::vector<std::vector<unsigned>> bits;
  unsigned count = 0;
  for (const Datum &value : problem.values) {
    bits.emplace_back();
    for (size_t i = 0; i < value.producers.size(); ++i)
      bits.back().push_back(count++);
  }
  auto maskOf = [&](unsigned v) {
    uint64_t mask = 0;
    for (unsigned bit : bits[v])
      mask |= uint64_t(1) << bit;
    return mask;
  };
  using State = std::tuple<unsigned, int, uint64_t>; // next, last, alive
  using Entry = std::pair<double, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  std::map<State, double> best;
  auto push = [&](double time, State state) {
    auto [it, isNew] = best.try_emplace(state, time);
    if (isNew || time < it->second) {
      it->second = time;
      queue.push({time, state});
    }
  };
  push(0, {0, -1, 0});
  while (!queue.empty()) {
    auto [time, state] = queue.top();
    queue.pop();
    if (time > best[state])
      continue;
    auto [next, last, alive] = state;
    if (next == problem.steps.size()) {
      bool isOver = true;
      for (unsigned v = 0; v < problem.values.size(); ++v)
        isOver &=
            !problem.values[v].isOutput || (alive & maskOf(v)) == maskOf(v);
      if (isOver)
        return time;
      continue;
    }
    uint64_t bytes = 0;
    for (unsigned v = 0; v < problem.values.size(); ++v)
      if (alive & maskOf(v)) {
        bytes += problem.values[v].bytes;
        if (problem.values[v].producers.back() >= next)
          continue; // not whole yet
        push(time, {next, last, alive & ~maskOf(v)});
      }
    for (unsigned k = 0; k <= next; ++k) {
      const Step &step = problem.steps[k];
      if (k < next && (!step.canRepeat || (!anyOrder && int(k) <= last)))
        continue;
      bool canRun = true;
      for (unsigned v : step.inputs)
        for (size_t i = 0; i < bits[v].size(); ++i)
          canRun &=
              problem.values[v].producers[i] >= k || (alive >> bits[v][i] & 1);
      if (!canRun)
        continue;
      uint64_t during = bytes, after = alive;
      std::vector<unsigned> made;
      for (unsigned v : step.outputs) {
        const std::vector<unsigned> &producers = problem.values[v].producers;
        uint64_t bit =
            uint64_t(1)
            << bits[v][std::find(producers.begin(), producers.end(), k) -
                       producers.begin()];
        bool isNew = !(alive & maskOf(v));
        if (isNew || (alive & bit)) {
          during += problem.values[v].bytes;
          made.push_back(v);
        }
        after |= bit;
      }
      double then = time + step.seconds;
      State to{k == next ? next + 1 : next, k == next || anyOrder ? -1 : int(k),
               0};
      for (uint32_t chosen = 0; chosen < 1u << step.takeovers.size();
           ++chosen) {
        uint64_t saved = 0, left = after;
        std::vector<unsigned> used;
        bool isValid = true;
        for (size_t i = 0; i < step.takeovers.size(); ++i) {
          if (!(chosen >> i & 1))
            continue;
          auto [output, input] = step.takeovers[i];
          isValid &=
              problem.values[input].producers.back() < next &&
              problem.values[output].bytes == problem.values[input].bytes &&
              std::count(made.begin(), made.end(), output) &&
              !std::count(used.begin(), used.end(), output) &&
              !std::count(used.begin(), used.end(), input);
          used.insert(used.end(), {output, input});
          saved += problem.values[input].bytes;
          left &= ~maskOf(input);
        }
        std::get<2>(to) = left;
        if (isValid && during - saved <= budget)
          push(then, to);
      }
    }
  }
  return std::nullopt;
}

} // namespace mlc::remat

#endif // MLC_TEST_UNIT_MEMORY_PROBLEMS_H
