//===- Reduce.cpp - Choices that no best solution needs -------------------===//

#include "planner/choices/Reduce.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace mlc;
using namespace mlc::planner;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Looks for choices that another one of the node can replace.
class Dominance {
public:
  explicit Dominance(const ChoiceProblem &problem)
      : problem(problem), edgesOf(problem.nodes.size()),
        usesOf(problem.nodes.size()), isKept(problem.nodes.size()) {
    for (const ChoiceProblem::Edge &edge : problem.edges) {
      edgesOf[edge.from].push_back(&edge);
      edgesOf[edge.to].push_back(&edge);
    }
    for (const ChoiceProblem::Row &row : problem.rows)
      for (const ChoiceProblem::Use &use : row.uses)
        usesOf[use.node].push_back(&use);
    for (uint32_t node = 0; node < problem.nodes.size(); ++node)
      for (double cost : problem.nodes[node].costs)
        isKept[node].push_back(cost < kNever);
  }

  /// Fewer choices of a node may make more of its neighbours needless.
  std::vector<std::vector<bool>> find() {
    std::vector<bool> isDue(problem.nodes.size(), true);
    for (int pass = 0; pass < 10; ++pass) {
      bool isChanged = false;
      for (uint32_t node = 0; node < isDue.size(); ++node) {
        if (!isDue[node])
          continue;
        isDue[node] = false;
        if (!thin(node))
          continue;
        isChanged = true;
        for (const ChoiceProblem::Edge *edge : edgesOf[node])
          isDue[edge->from == node ? edge->to : edge->from] = true;
      }
      if (!isChanged)
        break;
    }
    return isKept;
  }

private:
  bool thin(uint32_t node) {
    bool isThinned = false;
    const uint32_t count = problem.countChoices(node);
    for (uint32_t other = 0; other < count; ++other)
      for (uint32_t choice = 0; choice < count && isKept[node][other]; ++choice)
        if (choice != other && isKept[node][choice] &&
            replaces(node, choice, other)) {
          isKept[node][other] = false;
          isThinned = true;
        }
    return isThinned;
  }

  bool replaces(uint32_t node, uint32_t choice, uint32_t other) const {
    for (const ChoiceProblem::Use *use : usesOf[node])
      if (use->bytes[choice] > use->bytes[other])
        return false;
    double more =
        problem.nodes[node].costs[choice] - problem.nodes[node].costs[other];
    for (const ChoiceProblem::Edge *edge : edgesOf[node]) {
      more += mostMore(*edge, node, choice, other);
      if (more == kNever)
        return false;
    }
    return more <= 0;
  }

  /// By how much `choice` costs more than `other` on the edge, at most.
  double mostMore(const ChoiceProblem::Edge &edge, uint32_t node,
                  uint32_t choice, uint32_t other) const {
    const bool isFrom = edge.from == node;
    const uint32_t neighbour = isFrom ? edge.to : edge.from;
    const size_t width = problem.countChoices(edge.to);
    double most = -kNever;
    for (uint32_t i = 0; i < problem.countChoices(neighbour); ++i) {
      if (!isKept[neighbour][i])
        continue;
      const double mine =
          edge.costs[isFrom ? choice * width + i : i * width + choice];
      const double its =
          edge.costs[isFrom ? other * width + i : i * width + other];
      if (its < kNever)
        most = std::max(most, mine - its);
    }
    // Where the other one is never possible, anything replaces it.
    return most == -kNever ? -std::numeric_limits<double>::max() : most;
  }

  const ChoiceProblem &problem;
  std::vector<std::vector<const ChoiceProblem::Edge *>> edgesOf;
  std::vector<std::vector<const ChoiceProblem::Use *>> usesOf;
  std::vector<std::vector<bool>> isKept;
};

/// Adds the costs of an edge, of choices that are kept, to those of a node or
/// of the edge between the same two.
void addEdge(const ChoiceProblem &problem, const ChoiceProblem::Edge &edge,
             std::map<std::pair<uint32_t, uint32_t>, size_t> &places,
             ReducedProblem &found) {
  const auto &rows = found.kept[edge.from], &columns = found.kept[edge.to];
  const size_t width = problem.countChoices(edge.to);
  auto add = [&](auto &&cost) {
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j)
        cost(i, j) += edge.costs[rows[i] * width + columns[j]];
  };
  std::vector<ChoiceProblem::Node> &nodes = found.problem.nodes;
  if (columns.size() == 1)
    return add([&](size_t i, size_t) -> double & {
      return nodes[edge.from].costs[i];
    });
  if (rows.size() == 1)
    return add(
        [&](size_t, size_t j) -> double & { return nodes[edge.to].costs[j]; });
  const auto ends = std::minmax(edge.from, edge.to);
  auto [it, isNew] =
      places.try_emplace({ends.first, ends.second}, found.problem.edges.size());
  if (isNew)
    found.problem.edges.push_back(
        {edge.from, edge.to,
         std::vector<double>(rows.size() * columns.size())});
  ChoiceProblem::Edge &sum = found.problem.edges[it->second];
  const bool isTurned = sum.from != edge.from;
  add([&](size_t i, size_t j) -> double & {
    return isTurned ? sum.costs[j * rows.size() + i]
                    : sum.costs[i * columns.size() + j];
  });
}

} // namespace

Choices ReducedProblem::toOriginal(const Choices &choices) const {
  Choices found(choices.size());
  for (size_t node = 0; node < choices.size(); ++node)
    found[node] = kept[node][choices[node]];
  return found;
}

Choices ReducedProblem::toReduced(const Choices &original) const {
  Choices found(original.size());
  for (size_t node = 0; node < original.size(); ++node)
    found[node] =
        std::find(kept[node].begin(), kept[node].end(), original[node]) -
        kept[node].begin();
  return found;
}

ReducedProblem
planner::restrictTo(const ChoiceProblem &problem,
                    const std::vector<std::vector<bool>> &isKept) {
  ReducedProblem found;
  for (size_t node = 0; node < problem.nodes.size(); ++node) {
    std::vector<uint32_t> &kept = found.kept.emplace_back();
    ChoiceProblem::Node &thin = found.problem.nodes.emplace_back();
    thin.name = problem.nodes[node].name;
    for (uint32_t i = 0; i < isKept[node].size(); ++i)
      if (isKept[node][i])
        kept.push_back(i);
    if (kept.empty()) // none is possible, so any tells that
      kept.push_back(0);
    for (uint32_t choice : kept)
      thin.costs.push_back(problem.nodes[node].costs[choice]);
  }
  std::map<std::pair<uint32_t, uint32_t>, size_t> places;
  for (const ChoiceProblem::Edge &edge : problem.edges)
    addEdge(problem, edge, places, found);
  for (const ChoiceProblem::Row &row : problem.rows) {
    ChoiceProblem::Row &thin = found.problem.rows.emplace_back();
    thin.name = row.name;
    thin.budget = row.budget;
    for (const ChoiceProblem::Use &use : row.uses) {
      thin.uses.push_back({use.node, {}});
      for (uint32_t choice : found.kept[use.node])
        thin.uses.back().bytes.push_back(use.bytes[choice]);
    }
  }
  return found;
}

ReducedProblem planner::reduce(const ChoiceProblem &problem) {
  return restrictTo(problem, Dominance(problem).find());
}
