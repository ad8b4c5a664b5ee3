//===- ScheduleTest.cpp - Schedules against all schedules -----------------===//

#include "passes/Memory/Exact.h"
#include "runtime/Planner.h"
#include "test/unit/memory/Problems.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

using namespace mlc::remat;

namespace {

/// What the runtime's planner says of a schedule: each copy of a value is an
/// item from the run that makes it to the last that reads it.
uint64_t plannedLowerBound(const Problem &problem, const Schedule &schedule) {
  std::vector<mlc::runtime::PlanItem> items;
  std::vector<int> current(problem.values.size(), -1);
  std::vector<std::vector<unsigned>> parts(problem.values.size());
  uint32_t end = schedule.runs.size();
  for (uint32_t i = 0; i < end; ++i) {
    const Run &run = schedule.runs[i];
    const Step &step = problem.steps[run.step];
    for (unsigned v : step.inputs)
      items[current[v]].last = i;
    std::vector<int> written = current;
    for (unsigned v : step.outputs) {
      bool isThere = current[v] >= 0;
      bool isAgain = std::count(parts[v].begin(), parts[v].end(), run.step);
      if (!isThere || isAgain) {
        written[v] = items.size();
        items.push_back({64 * problem.values[v].bytes, i, i, {}});
        for (auto [output, input] : step.takeovers)
          if (output == v)
            items.back().inPlaceOf.push_back(current[input]);
        if (!isThere)
          current[v] = written[v];
      } else {
        items[current[v]].last = i;
      }
      parts[v].push_back(run.step);
    }
    for (unsigned v : run.frees) {
      current[v] = -1;
      parts[v].clear();
    }
  }
  for (unsigned v = 0; v < problem.values.size(); ++v)
    if (problem.values[v].isOutput)
      items[current[v]].last = end;
  return mlc::runtime::planMemory(items).lowerBound / 64;
}

/// The plan is a schedule within the budget, and takes what it says.
void check(const Problem &problem, const Plan &plan, uint64_t budget) {
  Schedule schedule = toSchedule(problem, plan.holds);
  REQUIRE(!schedule.runs.empty());
  CHECK(schedule.peak <= budget);
  CHECK(plan.peak == schedule.peak);
  CHECK(problem.seconds() + plan.extraSeconds == Approx(schedule.seconds));
  // A plan may hold what nobody reads any more; the planner knows.
  CHECK(plannedLowerBound(problem, schedule) <= schedule.peak);
}

/// Half of the way from what no schedule does without to what keeping takes,
/// and nine tenths.
std::vector<uint64_t> budgetsOf(const Problem &problem) {
  uint64_t low = lowerBound(problem);
  uint64_t high = toSchedule(problem, keepAll(problem)).peak;
  return {low, low + (high - low) / 2, low + (high - low) * 9 / 10};
}

} // namespace

TEST_CASE("the integer program is as good as all schedules") {
  unsigned tight = 0, infeasible = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Problem problem = randomProblem(seed, 3 + seed % 8);
    for (uint64_t budget : budgetsOf(problem)) {
      INFO("seed " << seed << ", budget " << budget);
      std::optional<double> least = searchAll(problem, budget, false);
      ExactPlan exact = solveExact(problem, budget, nullptr);
      CHECK(exact.isProved);
      REQUIRE(exact.plan.has_value() == least.has_value());
      infeasible += !least;
      if (!least)
        continue;
      check(problem, *exact.plan, budget);
      CHECK(problem.seconds() + exact.plan->extraSeconds == Approx(*least));
      CHECK(exact.bound == Approx(exact.plan->extraSeconds).margin(1e-5));
      tight += exact.plan->extraSeconds > 0;
    }
  }
  CHECK(tight > 100);
  CHECK(infeasible > 5);
}

TEST_CASE("no schedule of any order is below the bound") {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Problem problem = randomProblem(seed, 3 + seed % 6);
    uint64_t bound = lowerBound(problem);
    INFO("seed " << seed);
    CHECK((bound == 0 || !searchAll(problem, bound - 1, true)));
  }
}

TEST_CASE("fast schedules of small problems are those of least time") {
  unsigned solved = 0, missed = 0, slower = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Problem problem = randomProblem(seed, 3 + seed % 8);
    for (uint64_t budget : budgetsOf(problem)) {
      INFO("seed " << seed << ", budget " << budget);
      std::optional<double> least = searchAll(problem, budget, false);
      Plan plan = solveFast(problem, budget, 20000);
      if (plan.fits) {
        REQUIRE(least.has_value());
        check(problem, plan, budget);
        CHECK(problem.seconds() + plan.extraSeconds >= *least * (1 - 1e-9));
      }
      solved += least.has_value();
      missed += least && !plan.fits;
      slower +=
          plan.fits && problem.seconds() + plan.extraSeconds > *least * 1.01;
    }
  }
  // Of problems with every oddity at once; those of networks are next.
  CHECK(missed * 50 <= solved);
  CHECK(slower * 100 <= solved);
}

TEST_CASE("fast schedules of networks in training are within 1 %") {
  unsigned proved = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Problem problem = trainingProblem(seed, 6 + seed % 5);
    for (uint64_t budget : budgetsOf(problem)) {
      INFO("seed " << seed << ", budget " << budget);
      Plan plan = solveFast(problem, budget, 200000);
      ExactPlan exact =
          solveExact(problem, budget, plan.fits ? &plan : nullptr, {2000, 0});
      if (!exact.isProved)
        continue;
      REQUIRE(exact.plan.has_value() == plan.fits);
      if (!plan.fits)
        continue;
      check(problem, plan, budget);
      ++proved;
      CHECK(problem.seconds() + plan.extraSeconds <=
            1.01 * (problem.seconds() + exact.plan->extraSeconds));
    }
  }
  CHECK(proved >= 20);
}

TEST_CASE("the same problem has the same schedule") {
  Problem problem = trainingProblem(7, 20);
  uint64_t budget = toSchedule(problem, keepAll(problem)).peak / 2;
  Plan first = solveFast(problem, budget, 300000);
  Plan second = solveFast(problem, budget, 300000);
  REQUIRE(first.fits);
  check(problem, first, budget);
  Schedule a = toSchedule(problem, first.holds);
  Schedule b = toSchedule(problem, second.holds);
  REQUIRE(a.runs.size() == b.runs.size());
  for (size_t i = 0; i < a.runs.size(); ++i) {
    CHECK(a.runs[i].step == b.runs[i].step);
    CHECK(a.runs[i].frees == b.runs[i].frees);
  }
}

TEST_CASE("what is no schedule is refused") {
  Problem problem;
  unsigned a = addStep(problem, 1, 4, {});
  unsigned b = addStep(problem, 2, 4, {a});
  unsigned c = addStep(problem, 4, 4, {b, a});
  problem.values[c].isOutput = true;
  problem.steps[1].canRepeat = false;
  auto isSchedule = [&](std::vector<Run> runs) {
    Schedule schedule{std::move(runs)};
    return simulate(problem, schedule);
  };
  CHECK(isSchedule({{0}, {1}, {2, {a, b}}}));
  CHECK(isSchedule({{0}, {1, {a}}, {0}, {2, {a, b}}}));
  CHECK(!isSchedule({{0}, {1, {a}}, {2, {b}}}));    // not there
  CHECK(!isSchedule({{0}, {1}, {1}, {2, {a, b}}})); // must not repeat
  CHECK(!isSchedule({{1}, {0}, {2}}));              // out of order
  CHECK(!isSchedule({{0}, {1}}));                   // not at the end
  CHECK(!isSchedule({{0}, {1}, {2, {c}}}));         // no output
  CHECK(!isSchedule({{0}, {1, {c}}, {2}}));         // freed before made
  CHECK(!isSchedule({{0}, {1}, {2}, {3}}));         // no such step
}

/// Not a test: what docs/Measurements/rematerialization.md shows.
TEST_CASE("networks of 65 steps, proved", "[.][measure]") {
  auto seconds = [] {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Problem problem = trainingProblem(seed, 32);
    uint64_t full = toSchedule(problem, keepAll(problem)).peak;
    for (unsigned percent : {80, 65, 50, 35}) {
      uint64_t budget = full * percent / 100;
      double start = seconds();
      Plan plan = solveFast(problem, budget, defaultWork);
      double fast = seconds() - start;
      if (!plan.fits)
        continue;
      check(problem, plan, budget);
      ExactPlan exact = solveExact(problem, budget, &plan, {1000000, 120});
      std::printf("seed %u, %u %%: %.0f + %.0f in %.2f s; %s %.1f in %.1f s\n",
                  unsigned(seed), percent, problem.seconds(), plan.extraSeconds,
                  fast, exact.isProved ? "optimum" : "bound", exact.bound,
                  seconds() - start - fast);
    }
  }
}
