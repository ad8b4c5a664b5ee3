//===- ExtractTest.cpp - Extraction against brute force -------------------===//

#include "rewrites/Extract/Extract.h"
#include "rewrites/Extract/ExtractIlp.h"
#include "rewrites/Extract/ExtractReduce.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Every choice of one node for every class.
double bruteForce(const ExtractionProblem &problem) {
  std::vector<size_t> counter(problem.classes.size(), 0);
  double best = infinity;
  while (true) {
    std::vector<int> chosen(counter.size(), -1);
    for (size_t i = 0; i < counter.size(); ++i)
      if (!problem.classes[i].empty())
        chosen[i] = problem.classes[i][counter[i]];
    best = std::min(best, selectionCost(problem, chosen));
    size_t i = 0;
    while (i < counter.size() &&
           ++counter[i] >= std::max<size_t>(problem.classes[i].size(), 1))
      counter[i++] = 0;
    if (i == counter.size())
      return best;
  }
}

/// Small e-graphs: sharing, cycles, nodes that cost nothing, classes that
/// cannot be computed.
ExtractionProblem randomProblem(uint64_t seed, unsigned classes,
                                unsigned perClass, bool cyclic) {
  std::mt19937_64 random(seed);
  auto below = [&](unsigned n) { return unsigned(random() % n); };
  ExtractionProblem problem;
  for (unsigned i = 0; i < classes; ++i)
    problem.addClass();
  for (unsigned i = 0; i < classes; ++i) {
    unsigned nodes = 1 + below(perClass);
    for (unsigned k = 0; k < nodes; ++k) {
      llvm::SmallVector<unsigned> children;
      unsigned wanted = i + 1 == classes ? 0 : below(4);
      for (unsigned c = 0; c < wanted; ++c) {
        unsigned child = cyclic && below(4) == 0
                             ? below(classes)
                             : i + 1 + below(classes - i - 1);
        if (!llvm::is_contained(children, child))
          children.push_back(child);
      }
      problem.addNode(i, below(5) == 0 ? 0 : below(20) * 0.25, children);
    }
  }
  problem.roots.push_back(0);
  if (below(2))
    problem.roots.push_back(below(classes));
  return problem;
}

/// A chain of blocks as merging gives them: in each, two results are computed
/// apart, or as two parts of one that costs less than both.
ExtractionProblem mergeChain(unsigned blocks, unsigned width) {
  ExtractionProblem problem;
  std::mt19937_64 random(blocks);
  unsigned input = problem.addClass();
  problem.addNode(input, 0);
  for (unsigned b = 0; b < blocks; ++b) {
    std::vector<unsigned> parts;
    for (unsigned i = 0; i < width; ++i) {
      parts.push_back(problem.addClass());
      problem.addNode(parts.back(), 10 + double(random() % 10), {input});
    }
    for (unsigned i = 0; i < width; ++i)
      for (unsigned j = i + 1; j < width; ++j) {
        unsigned merged = problem.addClass();
        problem.addNode(merged, 14 + double(random() % 20), {input});
        problem.addNode(parts[i], 0.5, {merged});
        problem.addNode(parts[j], 0.5, {merged});
      }
    unsigned next = problem.addClass();
    problem.addNode(next, 1, parts);
    // The blocks overlap, so that nothing cuts the chain.
    if (b % 3 != 0)
      problem.addNode(next, 2, {parts[0], input});
    input = next;
  }
  problem.roots.push_back(input);
  return problem;
}

void check(const ExtractionProblem &problem, const Extraction &extraction) {
  std::vector<int> chosen = extraction.chosen;
  CHECK(selectionCost(problem, chosen) == Approx(extraction.cost));
  CHECK(chosen == extraction.chosen);
  CHECK(extraction.lowerBound <= extraction.cost * (1 + 1e-9));
}

} // namespace

TEST_CASE("exact extraction agrees with brute force") {
  unsigned cyclesMattered = 0, greedyMissed = 0, feasible = 0;
  for (uint64_t seed = 0; seed < 800; ++seed) {
    ExtractionProblem problem =
        randomProblem(seed, 3 + seed % 7, 3, seed % 4 != 0);
    double expected = bruteForce(problem);
    INFO("seed " << seed);
    Extraction greedy = extractGreedy(problem);
    CHECK(greedy.exists() == (expected < infinity));
    ExtractionEffort effort;
    Extraction exact = extractExact(problem, greedy, effort);
    if (!(expected < infinity)) {
      CHECK(!exact.exists());
      continue;
    }
    ++feasible;
    check(problem, greedy);
    check(problem, exact);
    CHECK(exact.cost == Approx(expected));
    CHECK(exact.optimal);
    CHECK(greedy.lowerBound <= expected * (1 + 1e-9));
    greedyMissed += greedy.cost > expected * (1 + 1e-9);
    cyclesMattered += treeCosts(problem).choice[0] >= 0 &&
                      stronglyConnected(problem).size() > 1;
  }
  // The cases mean something.
  CHECK(feasible > 500);
  CHECK(cyclesMattered > 100);
  WARN("greedy missed the optimum in " << greedyMissed << " of " << feasible);
}

TEST_CASE("the integer program alone agrees with brute force") {
  unsigned improved = 0;
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    ExtractionProblem problem = randomProblem(seed, 8, 3, seed % 4 != 0);
    double expected = bruteForce(problem);
    std::vector<int> chosen = treeCosts(problem).choice;
    double cost = selectionCost(problem, chosen);
    if (!(expected < infinity) || cost == 0)
      continue;
    INFO("seed " << seed);
    improved += cost > expected * (1 + 1e-9);
    ExtractionEffort effort;
    double bound = solveIlp(problem, chosen, cost, effort);
    CHECK(effort.iterations < ExtractionEffort().iterations);
    CHECK(cost == Approx(expected));
    CHECK(bound == Approx(expected));
    CHECK(selectionCost(problem, chosen) == Approx(cost));
  }
  CHECK(improved > 10);
}

TEST_CASE("large problems end in time") {
  ExtractionProblem problem = mergeChain(100, 5);
  CHECK(problem.nodes.size() > 3000);
  Extraction greedy = extractGreedy(problem);
  check(problem, greedy);
  ExtractionEffort effort;
  Extraction exact = extractExact(problem, greedy, effort);
  check(problem, exact);
  CHECK(exact.optimal);
  CHECK(exact.cost <= greedy.cost);
  WARN(problem.nodes.size()
       << " nodes: greedy " << greedy.cost << " in " << greedy.seconds
       << " s, bound " << greedy.lowerBound << "; exact " << exact.cost
       << " in " << exact.seconds << " s");
}

TEST_CASE("without effort the start and a valid bound are left") {
  ExtractionProblem problem = mergeChain(100, 5);
  Extraction greedy = extractGreedy(problem);
  ExtractionEffort none{0, 0};
  Extraction exact = extractExact(problem, greedy, none);
  check(problem, exact);
  CHECK(exact.cost <= greedy.cost);
  CHECK(exact.lowerBound >= greedy.lowerBound);
  CHECK(exact.gap() < 0.5);
}

TEST_CASE("a cycle is never chosen, however cheap") {
  // x is the input's transpose twice: the way back is free, the input is not.
  ExtractionProblem problem;
  unsigned x = problem.addClass(), y = problem.addClass();
  problem.addNode(x, 0, {y});
  problem.addNode(y, 0, {x});
  problem.roots.push_back(x);
  CHECK(!extractGreedy(problem).exists());
  problem.addNode(y, 7);
  Extraction greedy = extractGreedy(problem);
  CHECK(greedy.cost == 7);
  ExtractionEffort effort;
  CHECK(extractExact(problem, greedy, effort).optimal);
}
