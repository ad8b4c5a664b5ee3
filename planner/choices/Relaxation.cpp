//===- Relaxation.cpp - A problem without its rows ------------------------===//

#include "planner/choices/Relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlc;
using namespace mlc::planner;

static constexpr double kNever = std::numeric_limits<double>::infinity();

Relaxation::Relaxation(const ChoiceProblem &problem, double maxEntries)
    : problem(problem), elimination(problem, maxEntries),
      byteScales(problem.rows.size(), 1) {
  findScales();
}

/// The difference between the largest and the smallest finite number.
template <typename Numbers> static double rangeOf(const Numbers &numbers) {
  double least = kNever, most = -kNever;
  for (auto number : numbers)
    if (double(number) < kNever) {
      least = std::min(least, double(number));
      most = std::max(most, double(number));
    }
  return most > least ? most - least : 0;
}

void Relaxation::findScales() {
  double sum = 0;
  for (const ChoiceProblem::Node &node : problem.nodes)
    sum += rangeOf(node.costs);
  for (const ChoiceProblem::Edge &edge : problem.edges)
    sum += rangeOf(edge.costs);
  if (sum > 0)
    copyScale = sum / double(problem.nodes.size());
  for (size_t row = 0; row < byteScales.size(); ++row) {
    const std::vector<ChoiceProblem::Use> &uses = problem.rows[row].uses;
    double bytes = 0;
    for (const ChoiceProblem::Use &use : uses)
      bytes += rangeOf(use.bytes);
    if (bytes > 0)
      byteScales[row] = copyScale * double(uses.size()) / bytes;
  }
}

Relaxation::Multipliers Relaxation::zero() const {
  Multipliers at;
  at.byteCosts.assign(problem.rows.size(), 0);
  const EliminationOrder &order = elimination.getOrder();
  at.copyCosts.resize(order.nodeOf.size());
  for (size_t copy = 0; copy < at.copyCosts.size(); ++copy)
    if (order.copiesOf[order.nodeOf[copy]].size() > 1)
      at.copyCosts[copy].assign(problem.countChoices(order.nodeOf[copy]), 0);
  return at;
}

double Relaxation::evaluate(const Multipliers &at,
                            const std::vector<std::vector<bool>> *allowed) {
  const EliminationOrder &order = elimination.getOrder();
  costs = elimination.ownCosts();
  double fixed = 0;
  for (size_t row = 0; row < problem.rows.size(); ++row) {
    const double price = at.byteCosts[row];
    if (price == 0)
      continue;
    fixed += price * double(problem.rows[row].budget);
    for (const ChoiceProblem::Use &use : problem.rows[row].uses) {
      const std::vector<uint32_t> &copies = order.copiesOf[use.node];
      for (uint32_t copy : copies)
        for (size_t i = 0; i < use.bytes.size(); ++i)
          costs[copy][i] +=
              price * double(use.bytes[i]) / double(copies.size());
    }
  }
  for (size_t copy = 0; copy < costs.size(); ++copy) {
    for (size_t i = 0; i < at.copyCosts[copy].size(); ++i)
      costs[copy][i] += at.copyCosts[copy][i];
    if (allowed)
      for (size_t i = 0; i < costs[copy].size(); ++i)
        if (!(*allowed)[order.nodeOf[copy]][i])
          costs[copy][i] = kNever;
  }
  count += elimination.steps();
  value = elimination.minimize(costs, found) - fixed;
  return value;
}

Choices Relaxation::choices() const {
  return {found.begin(), found.begin() + problem.nodes.size()};
}

bool Relaxation::climb(Multipliers &at, double target, double factor) {
  const EliminationOrder &order = elimination.getOrder();
  const Choices own = choices();
  std::vector<double> slope;
  for (size_t row = 0; row < problem.rows.size(); ++row) {
    const double over = double(bytesOf(problem.rows[row], own)) -
                        double(problem.rows[row].budget);
    // A node's copies use its bytes in equal parts.
    double copies = 0;
    for (const ChoiceProblem::Use &use : problem.rows[row].uses)
      if (const auto &all = order.copiesOf[use.node]; all.size() > 1)
        for (uint32_t copy : all)
          copies += double(use.bytes[found[copy]] - use.bytes[own[use.node]]) /
                    double(all.size());
    const double rise = (over + copies) * byteScales[row];
    slope.push_back(at.byteCosts[row] <= 0 && rise < 0 ? 0 : rise);
  }
  for (size_t copy = 0; copy < found.size(); ++copy) {
    const auto &all = order.copiesOf[order.nodeOf[copy]];
    if (all.size() == 1)
      continue;
    const size_t begin = slope.size();
    slope.resize(begin + at.copyCosts[copy].size(), 0);
    for (uint32_t other : all)
      slope[begin + found[other]] -= copyScale / double(all.size());
    slope[begin + found[copy]] += copyScale;
  }
  double slopes = 0, along = 0;
  for (size_t i = 0; i < slope.size(); ++i) {
    slopes += slope[i] * slope[i];
    along += direction.empty() ? 0 : slope[i] * direction[i];
  }
  if (slopes == 0)
    return false;
  direction.resize(slope.size(), 0);
  const double before = along < 0 ? 0 : 0.5;
  double length = 0;
  along = 0;
  for (size_t i = 0; i < slope.size(); ++i) {
    direction[i] = slope[i] + before * direction[i];
    length += direction[i] * direction[i];
    along += slope[i] * direction[i];
  }
  if (!(along > 0) || !std::isfinite(length))
    return false;
  const double step = factor * std::max(target - value, 0.0) / length;
  for (size_t row = 0; row < problem.rows.size(); ++row)
    at.byteCosts[row] = std::max(
        0.0, at.byteCosts[row] + step * direction[row] * byteScales[row]);
  size_t next = problem.rows.size();
  for (std::vector<double> &mine : at.copyCosts)
    for (double &cost : mine)
      cost += step * direction[next++] * copyScale;
  return true;
}

std::vector<std::vector<double>> Relaxation::marginals() {
  CopyCosts ofCopies;
  elimination.findMarginals(costs, ofCopies);
  count += 3 * elimination.steps();
  // `value` has budgets taken off.
  double least = kNever;
  for (double one : ofCopies.empty() ? std::vector<double>{} : ofCopies[0])
    least = std::min(least, one);
  std::vector<std::vector<double>> all(problem.nodes.size());
  const EliminationOrder &order = elimination.getOrder();
  for (size_t node = 0; node < all.size(); ++node) {
    all[node].assign(problem.countChoices(node), -kNever);
    for (uint32_t copy : order.copiesOf[node])
      for (size_t i = 0; i < all[node].size(); ++i)
        all[node][i] =
            std::max(all[node][i], ofCopies[copy][i] - least + value);
  }
  return all;
}
