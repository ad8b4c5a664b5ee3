//===- ChoicesTest.cpp - Solvers of choices beside all choices ------------===//

#include "planner/choices/Elimination.h"
#include "planner/choices/RandomProblem.h"
#include "planner/choices/Reduce.h"
#include "planner/choices/Solve.h"
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace mlc::planner;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The least cost of all choices that fit, by trying each; infinite if none
/// does.
double tryAll(const ChoiceProblem &problem) {
  double best = kNever;
  Choices choices(problem.nodes.size(), 0);
  for (;;) {
    if (fits(problem, choices))
      best = std::min(best, costOf(problem, choices));
    size_t node = 0;
    while (node < choices.size() &&
           ++choices[node] == problem.countChoices(node))
      choices[node++] = 0;
    if (node == choices.size())
      return best;
  }
}

RandomProblemOptions smallOptions(uint64_t seed) {
  RandomProblemOptions options;
  options.seed = seed;
  options.nodes = 2 + seed % 7;
  options.choices = 2 + seed % 3;
  options.rows = seed % 4;
  options.reach = 1 + seed % 5;
  options.density = 0.6;
  options.excluded = seed % 5 == 0 ? 0.3 : 0;
  options.room = seed % 11 == 0 ? 0 : 0.35;
  return options;
}

void check(const ChoiceProblem &problem, const ChoiceSolution &found,
           double best) {
  CHECK(fits(problem, found.choices));
  CHECK(costOf(problem, found.choices) == Approx(found.cost));
  CHECK(found.cost == Approx(best).margin(1e-9));
  CHECK(found.bound == Approx(best).margin(1e-4));
  CHECK(found.bound <= found.cost);
}

} // namespace

TEST_CASE("elimination and integer programs find what trying all finds") {
  int fitting = 0, misfitting = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    const ChoiceProblem problem = makeRandomProblem(smallOptions(seed));
    const double best = tryAll(problem);
    ChoiceSolution found;
    ChoiceOptions narrow;
    narrow.maxEntries = 8; // nodes are split
    for (const ChoiceOptions &options : {ChoiceOptions{}, narrow}) {
      auto status = solveByElimination(problem, options, found);
      REQUIRE(status.ok() == (best < kNever));
      if (status.ok())
        check(problem, found, best);
    }
    auto status = solveByIntegerProgram(problem, 100000, found);
    REQUIRE(status.ok() == (best < kNever));
    if (status.ok())
      check(problem, found, best);
    ++(best < kNever ? fitting : misfitting);
  }
  CHECK(fitting > 200);
  CHECK(misfitting > 5);
}

TEST_CASE("marginals are the least sums with a choice") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    RandomProblemOptions options = smallOptions(seed);
    options.rows = 0;
    const ChoiceProblem problem = makeRandomProblem(options);
    Elimination elimination(problem, 1e6);
    REQUIRE(elimination.isExact());
    Choices choices;
    CopyCosts marginals;
    const CopyCosts costs = elimination.ownCosts();
    if (elimination.minimize(costs, choices) == kNever)
      continue;
    CHECK(costOf(problem, choices) == Approx(tryAll(problem)));
    elimination.findMarginals(costs, marginals);
    for (uint32_t node = 0; node < problem.nodes.size(); ++node)
      for (uint32_t i = 0; i < problem.countChoices(node); ++i) {
        ChoiceProblem fixed = problem;
        for (uint32_t j = 0; j < problem.countChoices(node); ++j)
          if (j != i)
            fixed.nodes[node].costs[j] = kNever;
        const double least = tryAll(fixed);
        CHECK((least == kNever ? marginals[node][i] == kNever
                               : marginals[node][i] == Approx(least)));
      }
  }
}

TEST_CASE("choices that another one replaces are left out") {
  ChoiceProblem problem;
  problem.nodes = {{"a", {1, 2, 0}}, {"b", {0, 3}}};
  problem.edges = {{0, 1, {5, 0, 5, 0, 9, 9}}, {1, 0, {0, 0, 0, 0, 0, 0}}};
  ReducedProblem reduced = reduce(problem);
  // The second one of a costs more than the first one, and so does the third,
  // by 4 - 1 or more; then the second one of b is the better one.
  CHECK(reduced.kept == std::vector<std::vector<uint32_t>>{{0}, {1}});
  CHECK(reduced.problem.edges.empty());
  CHECK(costOf(reduced.problem, {0, 0}) == 4);
  // Not where it uses fewer bytes.
  problem.rows = {{"r", 10, {{0, {7, 6, 7}}}}};
  reduced = reduce(problem);
  CHECK(reduced.kept[0] == std::vector<uint32_t>{0, 1});
  CHECK(reduced.toOriginal({1, 0}) == Choices{1, reduced.kept[1][0]});
  CHECK(reduced.problem.edges.size() <= 1);
}

TEST_CASE("long networks come near to the best") {
  for (uint64_t seed = 0; seed < 2; ++seed) {
    RandomProblemOptions options;
    options.seed = seed;
    ChoiceOptions how;
    how.steps = 2e8;
    ChoiceSolution found, again;
    const ChoiceProblem problem = makeRandomProblem(options);
    REQUIRE(solveByElimination(problem, how, found).ok());
    CHECK(fits(problem, found.choices));
    CHECK(found.gap() < 0.005);
    REQUIRE(solveByElimination(problem, how, again).ok());
    CHECK(again.choices == found.choices);
    CHECK(again.bound == found.bound);
  }
}

TEST_CASE("tables that would be too large still give a bound") {
  RandomProblemOptions options;
  options.nodes = 60;
  options.reach = 30;
  options.rows = 1;
  options.density = 0.2;
  ChoiceOptions how;
  how.maxEntries = 1000;
  how.steps = 1e8;
  ChoiceSolution found;
  const ChoiceProblem problem = makeRandomProblem(options);
  REQUIRE(solveByElimination(problem, how, found).ok());
  CHECK(found.copies > 0);
  CHECK(found.bound > 0);
  CHECK(found.bound < found.cost);
}

TEST_CASE("an error names the row in which nothing fits") {
  ChoiceProblem problem;
  problem.nodes = {{"a", {1, 2}}, {"b", {1, 2}}};
  problem.edges = {{0, 1, {0, 0, 0, kNever}}};
  problem.rows = {{"early", 30, {{0, {20, 10}}}},
                  {"late", 25, {{0, {20, 10}}, {1, {20, 10}}}}};
  ChoiceSolution found;
  const std::string message =
      "nothing fits: late needs at least 30 bytes, and there are 25";
  CHECK(solveByElimination(problem, {}, found).message == message);
  CHECK(solveByIntegerProgram(problem, 100, found).message == message);
  // Each row alone could be met.
  problem.rows[1].budget = 30;
  problem.rows[0] = {"early", 15, {{0, {20, 10}}}};
  problem.rows.push_back({"last", 15, {{1, {20, 10}}}});
  problem.rows[1].budget = 60;
  CHECK(solveByElimination(problem, {}, found).message ==
        "nothing fits all rows together; the tightest one, early needs at "
        "least 10 bytes, and there are 15");
  problem.edges[0].costs.assign(4, kNever);
  CHECK(solveByElimination(problem, {}, found).message ==
        "all choices exclude each other");
}

TEST_CASE("what is no problem is refused") {
  ChoiceProblem problem;
  problem.nodes = {{"a", {1, 2}}, {"b", {}}};
  CHECK(problem.check().message ==
        "node b: needs choices, whose costs are numbers or infinite");
  problem.nodes[1].costs = {NAN};
  CHECK_FALSE(problem.check().ok());
  problem.nodes[1].costs = {0};
  problem.edges = {{0, 2, {1}}};
  CHECK(problem.check().message == "edge from 0 to 2: needs two nodes");
  problem.edges = {{0, 1, {1}}};
  CHECK(problem.check().message ==
        "edge from a to b: needs a cost for each pair of choices");
  problem.edges.clear();
  problem.rows = {{"r", 1, {{0, {1, int64_t(1) << 62}}}}};
  CHECK_FALSE(problem.check().ok());
  problem.rows = {{"r", 1, {{0, {1, 2}}, {0, {1, 2}}}}};
  CHECK(problem.check().message == "row r: has node a twice");
  ChoiceSolution found;
  CHECK_FALSE(solveByElimination(problem, {}, found).ok());
  CHECK(solveByElimination({}, {}, found).ok());
}
