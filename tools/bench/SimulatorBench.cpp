//===- SimulatorBench.cpp - Delta and full simulations, compared ----------===//
//
// 500 operators on 64 and on 512 devices, as a search over placements changes
// them: one operator at a time gets other devices, and what it exchanges with
// its neighbours changes with it. Prints the time for a change of
//
//   every rank  a program made and simulated, each rank for itself
//   full        a program made and simulated, equal ranks once
//   again       the program simulated again
//   delta       the tasks that the change touches
//
// and checks that all have the same times.
//
//===----------------------------------------------------------------------===//

#include "simulator/timeline/RankTasks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace mlc::simulator;

namespace {

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Operators with random readers, each on a block of devices.
class Search {
public:
  Search(int32_t operators, int32_t devices, uint32_t seed)
      : random(seed), sets(size_t(operators)), reads(size_t(operators)),
        work(size_t(operators)) {
    for (int32_t size = std::max(1, devices / 16); size <= devices; size *= 2)
      for (int32_t begin = 0; begin < devices; begin += size)
        blocks.push_back({{begin, begin + size}});
    for (size_t i = 0; i < sets.size(); ++i) {
      sets[i] = blocks[draw(blocks.size())];
      work[i] = Time(1'000'000 + draw(100'000'000));
      // Chains with branches, as networks are.
      for (size_t j = i > 0 ? 1 + draw(2) : 0; j > 0; --j)
        reads[i].push_back(int32_t(i - 1 - draw(std::min<size_t>(i, 4))));
    }
  }

  /// Exchanges of an operator's inputs stand before it.
  std::vector<RankTask> tasks() const {
    std::vector<RankTask> all;
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < sets.size(); ++i) {
      RankTask task = operatorTask(i);
      for (int32_t read : reads[i]) {
        RankTask exchange = exchangeTask(i, read);
        exchange.after = {numbers[size_t(read)]};
        task.after.push_back(numbers[size_t(read)]);
        task.after.push_back(int32_t(all.size()));
        all.push_back(exchange);
      }
      numbers.push_back(int32_t(all.size()));
      all.push_back(task);
    }
    return all;
  }

  void change() {
    changed = draw(sets.size());
    sets[changed] = blocks[draw(blocks.size())];
  }

  /// Brings `times` up to date with the last change.
  void apply(RankTasks &times) const {
    int32_t number = 0;
    for (size_t i = 0; i < sets.size(); ++i) {
      for (int32_t read : reads[i]) {
        if (i == changed || size_t(read) == changed)
          set(times, number, exchangeTask(i, read));
        ++number;
      }
      if (i == changed)
        set(times, number, operatorTask(i));
      ++number;
    }
    times.update();
  }

  const std::vector<RankSet> &alternatives() const { return blocks; }

private:
  static void set(RankTasks &times, int32_t number, const RankTask &task) {
    times.changeDuration(number, task.duration);
    if (!times.changeRanks(number, task.ranks))
      std::abort();
  }
  RankTask operatorTask(size_t i) const {
    const RankRange &block = sets[i].front();
    return {work[i] / (block.end - block.begin), sets[i], false, 0, {}};
  }
  RankTask exchangeTask(size_t i, int32_t read) const {
    const RankRange &to = sets[i].front(), &from = sets[size_t(read)].front();
    if (to == from)
      return {0, {}, true, 1, {}};
    RankSet both;
    if (to.end < from.begin)
      both = {to, from};
    else if (from.end < to.begin)
      both = {from, to};
    else
      both = {{std::min(to.begin, from.begin), std::max(to.end, from.end)}};
    const Time bytes = work[i] / 20;
    return {bytes / std::min(to.end - to.begin, from.end - from.begin),
            both,
            true,
            1,
            {}};
  }
  size_t draw(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  }

  std::mt19937 random;
  std::vector<RankSet> blocks, sets;
  std::vector<std::vector<int32_t>> reads;
  std::vector<Time> work;
  size_t changed = 0;
};

void measure(int32_t operators, int32_t devices, int changes) {
  Search search(operators, devices, 7);
  RankTasks times(search.tasks(), devices, 2, search.alternatives());
  double every = 0, full = 0, again = 0, delta = 0;
  int rounds = 0;
  for (int i = 0; i < changes; ++i) {
    search.change();
    auto begin = std::chrono::steady_clock::now();
    search.apply(times);
    delta += secondsSince(begin);
    begin = std::chrono::steady_clock::now();
    const RankTasks made(search.tasks(), devices, 2);
    full += secondsSince(begin);
    if (made.span() != times.span())
      std::abort();
    if (i % 16)
      continue;
    begin = std::chrono::steady_clock::now();
    const RankTasks each(search.tasks(), devices, 2, {}, false);
    every += secondsSince(begin);
    ++rounds;
    if (each.span() != times.span())
      std::abort();
    begin = std::chrono::steady_clock::now();
    times.simulate();
    again += secondsSince(begin);
  }
  every *= 1e6 / rounds;
  again *= 1e6 / rounds;
  full *= 1e6 / changes;
  delta *= 1e6 / changes;
  std::printf("%d operators, %d devices, %d simulated: every rank %.0f us, "
              "full %.0f us, again %.0f us, delta %.0f us; delta is %.1f times "
              "as fast as full, full %.1f times and delta %.1f times as fast "
              "as every rank\n",
              operators, devices, times.countClasses(), every, full, again,
              delta, full / delta, every / full, every / delta);
}

} // namespace

int main(int count, char **arguments) {
  // How many changes; at least one.
  const int changes =
      count > 1 ? int(std::strtol(arguments[1], nullptr, 10)) : 400;
  for (int32_t devices : {64, 512})
    measure(500, devices, std::max(changes, 1));
  return 0;
}
