//===- Search.cpp - From multipliers to choices that fit ------------------===//

#include "planner/choices/Search.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;

static constexpr double kNever = std::numeric_limits<double>::infinity();

Search::Search(const ChoiceProblem &problem, const ChoiceOptions &options)
    : problem(problem), options(options), cost(kNever), lower(-kNever),
      leftOpen(kNever) {
  Allowed all;
  for (const ChoiceProblem::Node &node : problem.nodes)
    all.emplace_back(node.costs.size(), true);
  open(restrictTo(problem, all));
  firstWidth = level.relaxation->getElimination().width();
  firstCopies = level.relaxation->getElimination().getOrder().nodeOf.size() -
                problem.nodes.size();
}

/// Works on this part of the problem from now on.
void Search::open(ReducedProblem reduced) {
  stepsBefore = steps();
  level.reduced = std::move(reduced);
  level.relaxation =
      std::make_unique<Relaxation>(level.reduced.problem, options.maxEntries);
  level.improver = std::make_unique<Improver>(level.reduced.problem);
}

double Search::steps() const {
  return level.relaxation
             ? stepsBefore + level.relaxation->steps() + level.improver->steps()
             : 0;
}

double Search::tolerance() const {
  return cost < kNever ? options.gap * std::abs(cost) : 0;
}

/// The sum that multipliers aim at.
double Search::target(double value) const {
  return cost < kNever ? cost : value + 0.05 * std::abs(value) + 1e-9;
}

void Search::keepIfBetter(const Choices &choices) {
  const double sum = costOf(level.reduced.problem, choices);
  if (!(sum < cost))
    return;
  cost = sum;
  bestChoices = level.reduced.toOriginal(choices);
}

/// Makes what a relaxation chose fit, and keeps it if it is better than the
/// best; or takes parts of it into the best.
void Search::offer(const Choices &choices, bool isThorough) {
  Improver &improver = *level.improver;
  Choices repaired = choices;
  if (improver.repair(repaired)) {
    if (isThorough || !isFound())
      improver.improve(repaired);
    keepIfBetter(repaired);
  }
  if (!isFound())
    return;
  Choices mine = level.reduced.toReduced(bestChoices);
  bool isTaken = improver.takeFrom(choices, mine);
  isTaken |= improver.takeFrom(repaired, mine);
  if (!isTaken)
    return;
  if (isThorough)
    improver.improve(mine);
  keepIfBetter(mine);
}

/// Leaves out choices that cost more than the best, whatever the others are.
void Search::leaveOut() {
  if (!isFound() || !level.relaxation->isExact())
    return;
  level.relaxation->evaluate(bestAt);
  const auto least = level.relaxation->marginals();
  size_t left = 0, all = 0;
  Allowed isKept;
  for (const ChoiceProblem::Node &node : problem.nodes)
    isKept.emplace_back(node.costs.size(), false);
  for (size_t node = 0; node < least.size(); ++node)
    for (size_t i = 0; i < least[node].size(); ++i) {
      const bool isPossible = least[node][i] <= cost + 1e-9 * std::abs(cost);
      isKept[node][level.reduced.kept[node][i]] = isPossible;
      left += isPossible;
      ++all;
    }
  if (double(left) < 0.8 * double(all))
    open(restrictTo(problem, isKept));
}

void Search::climbUp() {
  Relaxation::Multipliers at = level.relaxation->zero();
  bestAt = at;
  double factor = 1;
  unsigned without = 0;
  for (unsigned i = 0; i < options.iterations && hasSteps(); ++i) {
    if (i % 25 == 24)
      leaveOut();
    level.improver->byteCosts = at.byteCosts;
    const double value = level.relaxation->evaluate(at);
    without = value > lower + 1e-6 * std::abs(lower) ? 0 : without + 1;
    if (value > lower) {
      lower = value;
      bestAt = at;
    }
    if (value == kNever)
      return;
    offer(level.relaxation->choices(), i % 5 == 0);
    if (isDone())
      return;
    if (without >= 12) { // too far: on from the best
      without = 0;
      factor /= 2;
      at = bestAt;
      level.relaxation->evaluate(at);
    }
    if (factor < 1e-3 || !level.relaxation->climb(at, target(value), factor))
      return;
  }
}

void Search::run() {
  climbUp();
  if (!isDone() && hasSteps()) {
    leaveOut();
    branch();
  }
  lower = std::min(lower, cost);
}
