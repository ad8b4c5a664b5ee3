//===- Branch.cpp - What multipliers leave open -------------------------===//
//
// Branch and bound: a node takes one choice after the other, and what cannot be
// cheaper than the best by the relaxation's bound is left.
//
//===----------------------------------------------------------------------===//

#include "planner/choices/Search.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr uint32_t kNone = UINT32_MAX;

void Search::branch() {
  const ChoiceProblem &part = level.reduced.problem;
  Allowed all;
  for (const ChoiceProblem::Node &node : part.nodes)
    all.emplace_back(node.costs.size(), true);
  leftOpen = kNever;
  visit(std::move(all), bestAt, lower);
  lower = std::max(lower, std::min(leftOpen, cost));
}

/// The bound of a branch, after some steps up. `at` gets the multipliers that
/// have it, where the relaxation has just been.
double Search::climbBranch(const Allowed &allowed,
                           Relaxation::Multipliers &at) {
  constexpr unsigned most = 20;
  Relaxation::Multipliers now = at;
  double top = -kNever, factor = 1;
  for (unsigned i = 0; i < most && hasSteps(); ++i) {
    level.improver->byteCosts = now.byteCosts;
    const double value = level.relaxation->evaluate(now, &allowed);
    if (value > top) {
      top = value;
      at = now;
    } else {
      factor /= 2;
    }
    if (value == kNever || value >= cost - tolerance())
      return value;
    offer(level.relaxation->choices(), i == 0);
    if (!level.relaxation->climb(now, target(value), factor))
      break;
  }
  level.relaxation->evaluate(at, &allowed);
  return top;
}

/// Leaves out choices that are no better than the best, and names a node to
/// branch on, with its choices in the order in which to try them: the one whose
/// second-best choice costs the most, or, where it costs nothing, the one whose
/// choices differ the most in bytes. None where no node has two choices left.
uint32_t Search::narrow(Allowed &allowed, std::vector<uint32_t> &order) {
  const auto least = level.relaxation->marginals();
  uint32_t widest = kNone;
  double mostRegret = -1;
  for (uint32_t node = 0; node < least.size(); ++node) {
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < least[node].size(); ++i) {
      if (least[node][i] >= cost - tolerance())
        allowed[node][i] = false;
      if (allowed[node][i])
        left.push_back(i);
    }
    if (left.size() < 2)
      continue;
    std::stable_sort(left.begin(), left.end(), [&](uint32_t a, uint32_t b) {
      return least[node][a] < least[node][b];
    });
    const double regret = least[node][left[1]] - least[node][left[0]];
    if (regret > mostRegret) {
      mostRegret = regret;
      widest = node;
      order = left;
    }
  }
  return widest;
}

/// `known` is a bound of the branch.
void Search::visit(Allowed allowed, Relaxation::Multipliers at, double known) {
  if (!hasSteps()) {
    leftOpen = std::min(leftOpen, known);
    return;
  }
  const double value = std::max(known, climbBranch(allowed, at));
  if (value >= cost - tolerance())
    return;
  std::vector<uint32_t> order;
  const uint32_t node = narrow(allowed, order);
  if (node == kNone) {
    // What is left is one solution or none, and was offered if it fits; with
    // copies that is not said before all nodes have one choice.
    Choices choices;
    for (const std::vector<bool> &choice : allowed) {
      const auto it = std::find(choice.begin(), choice.end(), true);
      if (it == choice.end())
        return;
      choices.push_back(it - choice.begin());
    }
    if (fits(level.reduced.problem, choices))
      keepIfBetter(choices);
    return;
  }
  for (uint32_t choice : order) {
    Allowed narrower = allowed;
    narrower[node].assign(narrower[node].size(), false);
    narrower[node][choice] = true;
    visit(std::move(narrower), at, value);
  }
}
