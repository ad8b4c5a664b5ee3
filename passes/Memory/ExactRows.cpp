//===- ExactRows.cpp - Rows of the integer program ------------------------===//

#include "passes/Memory/ExactRows.h"

#include <algorithm>

namespace mlc::remat {

IntegerProgram::IntegerProgram(const Problem &problem, uint64_t budget)
    : problem(problem), budget(budget), touchers(problem.values.size()) {
  // CBC's tolerances are absolute.
  timeScale = 1e4 / std::max(problem.seconds(), 1e-30);
  byteScale = 1e3 / std::max<double>(budget, 1);
  for (unsigned k = 0; k < problem.steps.size(); ++k) {
    for (unsigned v : problem.steps[k].inputs)
      touchers[v].push_back(k);
    for (unsigned v : problem.steps[k].outputs)
      if (touchers[v].empty() || touchers[v].back() != k)
        touchers[v].push_back(k);
  }
  findUses();
  addColumns();
  for (unsigned t = 0; t < problem.steps.size(); ++t) {
    addDependences(t);
    addMemory(t);
  }
}

/// A value is useful from a stage on if that or a later step of the program
/// touches it, or if a step that may run again for a useful value does.
void IntegerProgram::findUses() {
  size_t count = problem.values.size();
  useful.assign((problem.steps.size() + 1) * count, 0);
  std::vector<uint8_t> now(count, 0);
  for (size_t t = problem.steps.size() + 1; t-- > 0;) {
    for (unsigned v = 0; v < count; ++v)
      if (t == problem.steps.size())
        now[v] |= problem.values[v].isOutput;
      else
        now[v] |= std::count(touchers[v].begin(), touchers[v].end(), t) > 0;
    for (size_t k = std::min(t, problem.steps.size()); k-- > 0;) {
      const Step &step = problem.steps[k];
      bool isUsed = std::any_of(step.outputs.begin(), step.outputs.end(),
                                [&](unsigned v) { return now[v]; });
      if (step.canRepeat && isUsed && t < problem.steps.size())
        for (unsigned v : step.inputs)
          now[v] = 1;
    }
    std::copy(now.begin(), now.end(), useful.begin() + t * count);
  }
}

IntegerProgram::Column IntegerProgram::addColumn(double cost, bool isInteger,
                                                 bool isBounded) {
  columns.push_back({cost, isInteger, isBounded});
  return int(columns.size()) - 1;
}

Sum IntegerProgram::sumOf(Column column, double factor) const {
  Sum sum;
  if (column == one)
    sum.constant = factor;
  else if (column != zero)
    sum.add(factor, column);
  return sum;
}

/// A column that is 1 if both are.
IntegerProgram::Column IntegerProgram::addAnd(Column a, Column b) {
  Column both = addColumn(0, false);
  Sum least = sumOf(a);
  least.add(1, sumOf(b));
  least.add(-1, sumOf(both));
  least.constant -= 1;
  addRow(least);
  for (Column column : {a, b}) {
    Sum most = sumOf(both);
    most.add(-1, sumOf(column));
    addRow(most);
  }
  return both;
}

/// A column equal to `sum`, which is 0 or 1, but 0 if `column` is 1.
Sum IntegerProgram::without(const Sum &sum, Column column) {
  Column result = addColumn(0, false);
  Sum least = sum;
  least.add(-1, sumOf(column));
  least.add(-1, sumOf(result));
  addRow(least);
  Sum most = sumOf(result);
  most.add(-1, sum);
  addRow(most);
  most = sumOf(result);
  most.add(1, sumOf(column));
  most.constant -= 1;
  addRow(most);
  return sumOf(result);
}

void IntegerProgram::addRow(Sum sum, char sense) {
  if (!sum.terms.empty() || sum.constant > 1e-9)
    rows.push_back({std::move(sum), sense});
}

void IntegerProgram::addColumns() {
  size_t n = problem.steps.size();
  holds.assign((n + 1) * problem.values.size(), zero);
  reruns.assign(n * n, zero);
  for (size_t t = 0; t <= n; ++t)
    for (unsigned v = 0; v < problem.values.size(); ++v) {
      const std::vector<unsigned> &producers = problem.values[v].producers;
      if (producers.front() >= t)
        continue;
      if (producers.back() >= t || (t == n && problem.values[v].isOutput))
        held(t, v) = one;
      else if (t < n && isUseful(t, v))
        held(t, v) = addColumn(0, true);
    }
  for (size_t t = 0; t < n; ++t) {
    runs(t, t) = one;
    for (unsigned k = 0; k < t; ++k) {
      const Step &step = problem.steps[k];
      bool isUsed = std::any_of(step.outputs.begin(), step.outputs.end(),
                                [&](unsigned v) { return isUseful(t, v); });
      if (step.canRepeat && isUsed)
        runs(t, k) = addColumn(step.seconds * timeScale, true);
    }
  }
}

void IntegerProgram::addDependences(unsigned t) {
  // Values that a run reads are held or made again.
  for (unsigned k = 0; k <= t; ++k) {
    if (runs(t, k) == zero)
      continue;
    for (unsigned v : problem.steps[k].inputs)
      for (unsigned p : problem.values[v].producers) {
        if (p >= k)
          continue;
        Sum sum = sumOf(runs(t, k));
        sum.add(-1, sumOf(runs(t, p)));
        sum.add(-1, sumOf(held(t, v)));
        addRow(sum);
      }
  }
  for (unsigned v = 0; v < problem.values.size(); ++v) {
    const Datum &value = problem.values[v];
    for (unsigned p : value.producers) {
      if (p >= t)
        continue;
      // Values that are held on were held or are made again.
      Sum sum = sumOf(held(t + 1, v));
      sum.add(-1, sumOf(held(t, v)));
      sum.add(-1, sumOf(runs(t, p)));
      addRow(sum);
      if (value.producers.size() > 1 || problem.steps[p].outputs.size() > 1)
        continue;
      Sum again = sumOf(held(t, v));
      again.add(1, sumOf(runs(t, p)));
      again.constant -= 1;
      addRow(again);
    }
  }
}

void IntegerProgram::addMemory(unsigned t) {
  Sum alive;
  for (unsigned v = 0; v < problem.values.size(); ++v)
    alive.add(problem.values[v].bytes * byteScale, sumOf(held(t, v)));
  std::vector<std::vector<Column>> freed(problem.values.size());
  std::vector<Sum> brought(problem.values.size());
  for (unsigned k = 0; k <= t; ++k)
    if (runs(t, k) != zero)
      addRun(t, k, alive, freed, brought);
  // A value is freed at most once, and not if it is held on.
  for (unsigned v = 0; v < problem.values.size(); ++v) {
    if (freed[v].empty())
      continue;
    Sum sum = sumOf(held(t + 1, v));
    for (Column column : freed[v])
      sum.add(1, column);
    sum.add(-1, sumOf(held(t, v)));
    sum.add(-1, brought[v]);
    addRow(sum);
  }
}

/// Adds the memory that a run's outputs take.
void IntegerProgram::addOutputs(Moment &moment, std::vector<Sum> &brought) {
  const unsigned t = moment.t, k = moment.k;
  const Step &step = problem.steps[k];
  for (unsigned v : step.outputs) {
    double bytes = problem.values[v].bytes * byteScale;
    const std::vector<unsigned> &producers = problem.values[v].producers;
    if (k == t) {
      // The first part allocates the whole value.
      if (producers.front() != t)
        continue;
      brought[v] = sumOf(one);
      moment.during.add(bytes, brought[v]);
      moment.behind.add(bytes, brought[v]);
      continue;
    }
    Sum made = sumOf(runs(t, k));
    if (step.outputs.size() > 1 || producers.size() > 1) {
      if (held(t, v) != zero) {
        // R and S: a temporary beside the held copy, gone after the run.
        Sum beside = sumOf(addAnd(runs(t, k), held(t, v)));
        moment.during.add(bytes, beside);
        made.add(-1, beside);
      }
      // Only the first of the parts that run allocates.
      for (unsigned p : producers)
        if (p < k && runs(t, p) != zero)
          made = without(made, runs(t, p));
    }
    moment.during.add(bytes, made);
    moment.behind.add(bytes, made);
    brought[v].add(1, made);
  }
}

/// Adds the values that a run frees.
void IntegerProgram::addFrees(Moment &moment) {
  const unsigned t = moment.t, k = moment.k;
  const Step &step = problem.steps[k];
  std::vector<unsigned> operands = step.inputs;
  for (unsigned v : step.outputs)
    if (!std::count(operands.begin(), operands.end(), v))
      operands.push_back(v);
  for (unsigned v : operands) {
    bool isReadLater = false;
    if (held(t + 1, v) == one)
      continue;
    for (unsigned j : touchers[v])
      isReadLater |= j > k && j <= t && runs(t, j) == one;
    if (isReadLater || problem.values[v].bytes == 0)
      continue;
    Column free = addColumn(0, false);
    Sum first = sumOf(free);
    first.add(-1, sumOf(runs(t, k)));
    addRow(first);
    for (unsigned j : touchers[v]) {
      if (j <= k || j >= t || runs(t, j) == zero)
        continue;
      Sum later = sumOf(free);
      later.add(1, sumOf(runs(t, j)));
      later.constant -= 1;
      addRow(later);
    }
    moment.frees.push_back({v, free});
    moment.behind.add(-(problem.values[v].bytes * byteScale), free);
  }
}

/// Chooses outputs that take over the memory of freed inputs.
void IntegerProgram::addTakeovers(Moment &moment) {
  const unsigned t = moment.t, k = moment.k;
  const Step &step = problem.steps[k];
  std::vector<std::pair<unsigned, Sum>> takes, gives;
  for (auto [output, input] : step.takeovers) {
    auto source =
        std::find_if(moment.frees.begin(), moment.frees.end(),
                     [&, v = input](auto &f) { return f.first == v; });
    bool isNew = problem.values[output].producers.front() == k;
    if (source == moment.frees.end() || !isNew ||
        problem.values[output].bytes != problem.values[input].bytes)
      continue;
    Column take = addColumn(0, false);
    moment.during.add(-(problem.values[input].bytes * byteScale), take);
    Sum limit = sumOf(take);
    limit.add(-1, source->second);
    addRow(limit);
    auto append = [&](auto &list, unsigned v) {
      for (auto &[other, sum] : list)
        if (other == v) {
          sum.add(1, take);
          return;
        }
      list.push_back({v, sumOf(take)});
    };
    append(takes, output);
    append(gives, input);
  }
  for (auto *list : {&takes, &gives})
    for (auto &[v, sum] : *list)
      if (sum.terms.size() > 1) {
        sum.add(-1, sumOf(runs(t, k)));
        addRow(sum);
      }
}

/// Adds one run of a stage; `alive` is the memory before it, and then after it.
void IntegerProgram::addRun(unsigned t, unsigned k, Sum &alive,
                            std::vector<std::vector<Column>> &freed,
                            std::vector<Sum> &brought) {
  Moment moment{t, k, alive, alive, {}};
  addOutputs(moment, brought);
  addFrees(moment);
  addTakeovers(moment);
  for (auto [v, column] : moment.frees)
    freed[v].push_back(column);
  moment.during.constant -= budget * byteScale;
  addRow(moment.during);
  // A new column keeps rows short.
  if (k == t)
    return;
  Column next = addColumn(0, false, /*isBounded=*/false);
  moment.behind.add(-1, next);
  addRow(moment.behind, 'E');
  alive = sumOf(next);
}

} // namespace mlc::remat
