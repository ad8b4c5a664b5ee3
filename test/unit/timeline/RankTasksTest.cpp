//===- RankTasksTest.cpp - Ranks that do the same are simulated once ------===//

#include "simulator/timeline/RankTasks.h"

#include <catch2/catch.hpp>
#include <random>

using namespace mlc::simulator;

TEST_CASE("an exchange waits for all of its ranks", "[tasks]") {
  std::vector<RankTask> tasks(3);
  tasks[0] = {5, {{0, 2}}, false, 0, {}};
  tasks[1] = {2, {{0, 8}}, true, 1, {0}};
  tasks[2] = {1, {{0, 8}}, false, 0, {1}};
  RankTasks program(tasks, 8, 2);
  CHECK(program.countClasses() == 2);
  CHECK(program.start(1, 7) == 5);
  CHECK(program.end(2, 7) == 8);
  CHECK(program.span() == 8);
  // Ranks 1 and 0 are one.
  CHECK_FALSE(program.changeRanks(0, {{0, 1}}));
  // The task has no place on others, for no alternatives were named.
  CHECK_FALSE(program.changeRanks(0, {{0, 8}}));
  CHECK(program.changeRanks(0, {}));
  program.update();
  CHECK(program.span() == 3);
}

namespace {

/// A random program of operators on blocks of ranks.
class RandomProgram {
public:
  RandomProgram(uint32_t seed, int32_t ranks) : random(seed), ranks(ranks) {
    for (int32_t size = 1; size <= ranks; size *= 2)
      for (int32_t begin = 0; begin < ranks; begin += size)
        if (size >= ranks / 4)
          sets.push_back({{begin, std::min(begin + size, ranks)}});
    sets.push_back({{0, 1}, {ranks - 1, ranks}});
    sets.push_back({});
    const size_t count = 3 + draw(20);
    for (size_t i = 0; i < count; ++i) {
      RankTask task{
          Time(draw(9)), anySet(), draw(3) == 0, int32_t(draw(2)), {}};
      for (size_t j = i ? draw(3) : 0; j > 0; --j)
        task.after.push_back(int32_t(draw(i)));
      tasks.push_back(task);
    }
  }

  size_t draw(size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(random);
  }
  RankSet anySet() { return sets[draw(sets.size())]; }

  std::mt19937 random;
  int32_t ranks;
  std::vector<RankSet> sets;
  std::vector<RankTask> tasks;
};

void compare(const RandomProgram &program, const RankTasks &times) {
  const RankTasks every(program.tasks, program.ranks, 2, {}, false);
  REQUIRE(every.countClasses() == program.ranks);
  bool isSame = every.span() == times.span();
  for (size_t i = 0; i < program.tasks.size(); ++i)
    for (const RankRange &range : program.tasks[i].ranks)
      for (int32_t rank = range.begin; rank < range.end; ++rank)
        isSame &=
            every.start(int32_t(i), rank) == times.start(int32_t(i), rank) &&
            every.end(int32_t(i), rank) == times.end(int32_t(i), rank);
  REQUIRE(isSame);
}

} // namespace

TEST_CASE("folded, changed and full simulations are equal", "[tasks]") {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomProgram program(seed, seed % 2 ? 16 : 5);
    compare(program, RankTasks(program.tasks, program.ranks, 2));
    RankTasks times(program.tasks, program.ranks, 2, program.sets);
    for (int i = 0; i < 20; ++i) {
      const size_t task = program.draw(program.tasks.size());
      RankTask &changed = program.tasks[task];
      if (program.draw(2)) {
        changed.duration = Time(program.draw(9));
        times.changeDuration(int32_t(task), changed.duration);
      } else {
        changed.ranks = program.anySet();
        REQUIRE(times.changeRanks(int32_t(task), changed.ranks));
      }
      times.update();
      compare(program, times);
    }
  }
}
